// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func served(ports ...v1alpha.ServicePort) func(*v1alpha.Workload) {
	return func(w *v1alpha.Workload) { w.Spec.Service = &v1alpha.WorkloadService{Ports: ports} }
}

func exposed(change func(*v1alpha.Workload)) func(*v1alpha.Workload) {
	return func(w *v1alpha.Workload) {
		change(w)
		w.Spec.Service.Exposure = v1alpha.ServiceExposureLoadBalancer
	}
}

func TestService(t *testing.T) {
	const port, second = "spec.service.ports[0].", "spec.service.ports[1]."
	number := func(n int32) *intstr.IntOrString { return new(intstr.FromInt32(n)) }
	name := func(s string) *intstr.IntOrString { return new(intstr.FromString(s)) }
	udp := new(corev1.ProtocolUDP)
	checkRules(t, []rule{
		{"a port", nil, served(v1alpha.ServicePort{Port: 80}), nil},
		{"a number that no container names", nil, served(v1alpha.ServicePort{Port: 80, TargetPort: number(9999)}), nil},
		{"a named target", nil, served(v1alpha.ServicePort{Port: 8080, TargetPort: name("http")}), nil},
		{"a named target of a machine", machine, served(v1alpha.ServicePort{Port: 22, TargetPort: name("ssh")}), nil},
		{
			"TCP and UDP of one number", nil,
			served(v1alpha.ServicePort{Name: "dns", Port: 53}, v1alpha.ServicePort{Name: "dns-udp", Port: 53, Protocol: udp}), nil,
		},
		{"an application protocol", nil, served(v1alpha.ServicePort{Port: 80, AppProtocol: new("kubernetes.io/h2c")}), nil},
		{"headless without ports", nil, func(w *v1alpha.Workload) { w.Spec.Service = &v1alpha.WorkloadService{Headless: true} }, nil},

		{"a load balancer", nil, exposed(served(v1alpha.ServicePort{Port: 80})), nil},
		{
			"a load balancer of a headless service", nil, exposed(func(w *v1alpha.Workload) {
				w.Spec.Service = &v1alpha.WorkloadService{Headless: true}
			}), []string{"spec.service.exposure " + invalid},
		},
		{
			"a drain of a load balancer", nil, exposed(func(w *v1alpha.Workload) {
				served(v1alpha.ServicePort{Port: 80})(w)
				w.Spec.Service.DrainSeconds = new(int32(3600))
			}), nil,
		},
		{
			"a drain without a load balancer", nil, func(w *v1alpha.Workload) {
				served(v1alpha.ServicePort{Port: 80})(w)
				w.Spec.Service.DrainSeconds = new(int32(30))
			}, []string{"spec.service.drainSeconds " + invalid},
		},
		{"no ports", nil, served(), []string{"spec.service.ports " + required}},
		{"port 0", nil, served(v1alpha.ServicePort{}), []string{port + "port " + invalid}},
		{"port 65536", nil, served(v1alpha.ServicePort{Port: 65536}), []string{port + "port " + invalid}},
		{"target 0, which is no target", nil, served(v1alpha.ServicePort{Port: 80, TargetPort: number(0)}), nil},
		{"target 65536", nil, served(v1alpha.ServicePort{Port: 80, TargetPort: number(65536)}), []string{port + "targetPort " + invalid}},
		{"an empty target", nil, served(v1alpha.ServicePort{Port: 80, TargetPort: name("")}), nil},
		{
			"a target that no port may have", nil, served(v1alpha.ServicePort{Port: 80, TargetPort: name("a_b")}),
			[]string{port + "targetPort " + invalid},
		},
		{
			"a target that no container has", nil, served(v1alpha.ServicePort{Port: 80, TargetPort: name("gone")}),
			[]string{port + "targetPort " + notFound},
		},
		{
			"a target of another protocol", nil, served(v1alpha.ServicePort{Port: 80, TargetPort: name("http"), Protocol: udp}),
			[]string{port + "targetPort " + notFound},
		},
		{
			"a route to a port of UDP", nil, func(w *v1alpha.Workload) {
				served(v1alpha.ServicePort{Port: 53, Protocol: udp})(w)
				w.Spec.Service.Exposure = v1alpha.ServiceExposureGateway
			},
			[]string{port + "protocol " + invalid},
		},
		{
			"a protocol", nil, served(v1alpha.ServicePort{Port: 80, Protocol: new(corev1.Protocol("ICMP"))}),
			[]string{port + "protocol " + unsupported},
		},
		{"a name", nil, served(v1alpha.ServicePort{Name: "A", Port: 80}), []string{port + "name " + invalid}},
		{
			"an application protocol with a space", nil, served(v1alpha.ServicePort{Port: 80, AppProtocol: new("h 2")}),
			[]string{port + "appProtocol " + invalid},
		},
		{
			"several ports, one without a name", nil, served(v1alpha.ServicePort{Name: "a", Port: 80}, v1alpha.ServicePort{Port: 81}),
			[]string{second + "name " + required},
		},
		{
			"one name twice", nil, served(v1alpha.ServicePort{Name: "a", Port: 80}, v1alpha.ServicePort{Name: "a", Port: 81}),
			[]string{second + "name " + duplicate},
		},
		{
			"one number twice", nil,
			served(v1alpha.ServicePort{Name: "a", Port: 80, Protocol: new(corev1.ProtocolTCP)}, v1alpha.ServicePort{Name: "b", Port: 80}),
			[]string{second + "port " + duplicate},
		},
		{"33 ports", nil, func(w *v1alpha.Workload) {
			var ports []v1alpha.ServicePort
			for i := range int32(33) {
				ports = append(ports, v1alpha.ServicePort{Name: fmt.Sprintf("p%d", i), Port: 80 + i})
			}
			served(ports...)(w)
		}, []string{"spec.service.ports " + tooMany}},
		{"a Workload that begins with a digit", nil, func(w *v1alpha.Workload) {
			w.Name = "1web"
			served(v1alpha.ServicePort{Port: 80})(w)
		}, []string{"metadata.name " + invalid}},
		{"a name that is generated", nil, func(w *v1alpha.Workload) {
			w.Name, w.GenerateName = "", "1web-"
			served(v1alpha.ServicePort{Port: 80})(w)
		}, []string{"metadata.generateName " + invalid}},
	})
}

// TestServiceProbe: a request that the hub cannot send to an address of the Workload is refused with its field.
func TestServiceProbe(t *testing.T) {
	const at = "spec.service.probe"
	ports := func(w *v1alpha.Workload) {
		served(v1alpha.ServicePort{Name: "dns", Port: 53, Protocol: new(corev1.ProtocolUDP)}, v1alpha.ServicePort{Name: "web", Port: 80})(w)
	}
	probed := func(path string, port *int32) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			exposed(ports)(w)
			w.Spec.Service.Probe = &v1alpha.ServiceProbe{Path: path, Port: port}
		}
	}
	routed := func(port *int32) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			served(v1alpha.ServicePort{Port: 80})(w)
			w.Spec.Service.Exposure, w.Spec.Service.Probe = v1alpha.ServiceExposureGateway, &v1alpha.ServiceProbe{Path: "/", Port: port}
		}
	}
	checkRules(t, []rule{
		{"a path", nil, probed("/healthz?deep=1&a=%20", nil), nil},
		{"a path with two slashes", nil, probed("//a", nil), nil},
		{"a port of the service", nil, probed("/", new(int32(80))), nil},
		{"a Gateway", nil, routed(nil), nil},
		{"a port of a Gateway", nil, routed(new(int32(80))), []string{at + ".port " + forbidden}},
		{"no path", nil, probed("", nil), []string{at + ".path " + required}},
		{"a path without a slash", nil, probed("healthz", nil), []string{at + ".path " + invalid}},
		{"another host", nil, probed("http://example.com/", nil), []string{at + ".path " + invalid}},
		{"the longest path", nil, probed("/"+strings.Repeat("a", maxProbePath-1), nil), nil},
		{"a longer path", nil, probed("/"+strings.Repeat("a", maxProbePath), nil), []string{at + ".path " + tooLong}},
		{"a second header", nil, probed("/ HTTP/1.1\r\nX: y", nil), []string{at + ".path " + invalid}},
		{"a control character", nil, probed("/\x7f", nil), []string{at + ".path " + invalid}},
		{"a letter outside of ASCII", nil, probed("/ä", nil), []string{at + ".path " + invalid}},
		{"half a character", nil, probed("/%2", nil), []string{at + ".path " + invalid}},
		{"port 0", nil, probed("/", new(int32(0))), []string{at + ".port " + invalid}},
		{"port 65536", nil, probed("/", new(int32(65536))), []string{at + ".port " + invalid}},
		{"another port than the service's", nil, probed("/", new(int32(81))), []string{at + ".port " + invalid}},
		{"a port of UDP", nil, probed("/", new(int32(53))), []string{at + ".port " + invalid}},
		{"no port of TCP", nil, func(w *v1alpha.Workload) {
			probed("/", nil)(w)
			w.Spec.Service.Ports = w.Spec.Service.Ports[:1]
		}, []string{at + ".port " + required}},
		{"a service that is not exposed", nil, func(w *v1alpha.Workload) {
			probed("/", nil)(w)
			w.Spec.Service.Exposure = v1alpha.ServiceExposureCluster
		}, []string{at + " " + invalid}},
	})
}

// TestServiceOfAnUpdate: a Workload whose name is no Service's keeps working, and gets no service.
func TestServiceOfAnUpdate(t *testing.T) {
	before := sandbox()
	before.Name = "1web"
	after := before.DeepCopy()
	after.Spec.MinReadySeconds = new(int32(3))
	wantProblems(t, Workload(after, before))
	served(v1alpha.ServicePort{Port: 80})(after)
	wantProblems(t, Workload(after, before), "metadata.name "+invalid)
	if got := Workload(after, before)[0].Error(); !strings.Contains(got, "remove spec.service") {
		t.Errorf("the error has no remedy: %s", got)
	}
}

func TestServiceWarnings(t *testing.T) {
	number := func(n int32) *intstr.IntOrString { return new(intstr.FromInt32(n)) }
	named := new(intstr.FromString("http"))
	policy := func(rules ...networkingv1.NetworkPolicyIngressRule) *v1alpha.InterfaceNetworkPolicy {
		return &v1alpha.InterfaceNetworkPolicy{Ingress: rules}
	}
	from := func(peer networkingv1.NetworkPolicyPeer) networkingv1.NetworkPolicyIngressRule {
		return networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{peer}}
	}
	to := func(port networkingv1.NetworkPolicyPort) networkingv1.NetworkPolicyIngressRule {
		return networkingv1.NetworkPolicyIngressRule{Ports: []networkingv1.NetworkPolicyPort{port}}
	}
	own := from(networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}})
	block := from(networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "192.0.2.0/24"}})
	const undeclared, refused = "spec.service.ports[0].targetPort: no container has port", "spec.service.ports[0]: networkPolicy"
	for name, test := range map[string]struct {
		policy *v1alpha.InterfaceNetworkPolicy
		target *intstr.IntOrString
		want   []string
	}{
		"no policy":            {nil, number(80), nil},
		"a port of no name":    {nil, number(81), []string{undeclared}},
		"no rules":             {policy(), number(80), []string{refused}},
		"a block of addresses": {policy(block), named, []string{refused}},
		"the network":          {policy(block, own), named, nil},
		"everything by name":   {policy(to(networkingv1.NetworkPolicyPort{Port: named})), number(80), nil},
		"another port":         {policy(to(networkingv1.NetworkPolicyPort{Port: number(90)})), number(80), []string{refused}},
		"a range":              {policy(to(networkingv1.NetworkPolicyPort{Port: number(1), EndPort: new(int32(80))})), number(80), nil},
		"another protocol": {
			policy(to(networkingv1.NetworkPolicyPort{Protocol: new(corev1.ProtocolUDP)})), number(80), []string{refused},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := sandbox()
			w.Spec.Template.Spec.NetworkInterfaces[0].NetworkPolicy = test.policy
			served(v1alpha.ServicePort{Port: 8080, TargetPort: test.target})(w)
			got := serviceWarnings(&w.Spec)
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("warnings %q, want %q", got, test.want)
			}
		})
	}
}

// TestExposedServiceWarnings: a load balancer leads to nothing unless the template lets addresses from outside connect.
func TestExposedServiceWarnings(t *testing.T) {
	block := networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0"}}
	own := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}}
	const outside = "lets no address from outside connect to port 80/TCP"
	for name, test := range map[string]struct {
		policy *v1alpha.InterfaceNetworkPolicy
		want   bool
	}{
		"no policy": {nil, true},
		"the network": {&v1alpha.InterfaceNetworkPolicy{Ingress: []networkingv1.NetworkPolicyIngressRule{
			{From: []networkingv1.NetworkPolicyPeer{own}},
		}}, true},
		"a block": {&v1alpha.InterfaceNetworkPolicy{Ingress: []networkingv1.NetworkPolicyIngressRule{
			{From: []networkingv1.NetworkPolicyPeer{own, block}},
		}}, false},
		"everybody": {&v1alpha.InterfaceNetworkPolicy{Ingress: []networkingv1.NetworkPolicyIngressRule{{}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := sandbox()
			w.Spec.Template.Spec.NetworkInterfaces[0].NetworkPolicy = test.policy
			exposed(served(v1alpha.ServicePort{Port: 80}))(w)
			got := serviceWarnings(&w.Spec)
			if found := len(got) == 1 && strings.Contains(got[0], outside); found != test.want || len(got) > 1 {
				t.Errorf("warnings %q", got)
			}
		})
	}
}
