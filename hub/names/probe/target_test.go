// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestTargetsOf: what is asked follows from the exposure, the ports and the probe of a service.
func TestTargetsOf(t *testing.T) {
	const balanced, routed = v1alpha.ServiceExposureLoadBalancer, v1alpha.ServiceExposureGateway
	udp := v1alpha.ServicePort{Name: "dns", Port: 53, Protocol: new(corev1.ProtocolUDP)}
	web := v1alpha.ServicePort{Name: "web", Port: 8080}
	secure := v1alpha.ServicePort{Name: "secure", Port: 8443, AppProtocol: new("https")}
	port443 := v1alpha.ServicePort{Name: "tls", Port: 443}
	at := func(port *int32) *v1alpha.ServiceProbe { return &v1alpha.ServiceProbe{Path: "/ready", Port: port} }
	gateway := func(port int32) []v1alpha.EndpointPort {
		return []v1alpha.EndpointPort{{Port: port, Protocol: corev1.ProtocolTCP}}
	}
	ready := func(port int32, secure bool) Target {
		return Target{Ports: [2]int32{port}, Path: "/ready", Secure: secure}
	}
	list := func(ports ...v1alpha.ServicePort) []v1alpha.ServicePort { return ports }
	for name, test := range map[string]struct {
		exposure v1alpha.ServiceExposure
		ports    []v1alpha.ServicePort
		probe    *v1alpha.ServiceProbe
		endpoint []v1alpha.EndpointPort
		want     Target
	}{
		"the first port of TCP":       {balanced, list(udp, web, secure), nil, nil, Target{Ports: [2]int32{8080}}},
		"a connection is never TLS":   {balanced, list(port443), nil, nil, Target{Ports: [2]int32{443}}},
		"no port of TCP":              {balanced, list(udp), nil, nil, Target{}},
		"a path at the first port":    {balanced, list(udp, web), at(nil), nil, ready(8080, false)},
		"a path at a port":            {balanced, list(web, secure), at(new(int32(8443))), nil, ready(8443, true)},
		"a path at port 443":          {balanced, list(port443), at(nil), nil, ready(443, true)},
		"a path at a port that is no": {balanced, list(web), at(new(int32(81))), nil, Target{}},
		"a Gateway":                   {routed, list(web), nil, gateway(443), Target{Ports: [2]int32{443, 80}}},
		"a Gateway of no known port":  {routed, list(web), nil, nil, Target{Ports: [2]int32{443, 80}}},
		"a Gateway at another port":   {routed, list(web), nil, gateway(8443), Target{Ports: [2]int32{8443, 80}}},
		"a Gateway of HTTP":           {routed, list(web), nil, gateway(80), Target{Ports: [2]int32{80}}},
		"a path at a Gateway":         {routed, list(web), at(nil), gateway(443), ready(443, true)},
		"a path at a Gateway of HTTP": {routed, list(web), at(nil), gateway(80), ready(80, false)},
	} {
		t.Run(name, func(t *testing.T) {
			service := &v1alpha.WorkloadService{Exposure: test.exposure, Ports: test.ports, Probe: test.probe}
			endpoint := &v1alpha.CityEndpoint{City: "DFW", Ports: test.endpoint}
			var want []Target
			for _, address := range []string{"203.0.113.7", "lb.example.com"} {
				endpoint.Addresses = append(endpoint.Addresses, v1alpha.EndpointAddress{Value: address})
				if test.want.City, test.want.Address = "DFW", address; test.want.Path != "" {
					test.want.Host = "web.example.com"
				}
				if test.want.Ports[0] > 0 {
					want = append(want, test.want)
				}
			}
			if got := TargetsOf(service, endpoint, "web.example.com"); !slices.Equal(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	many := &v1alpha.CityEndpoint{Addresses: make([]v1alpha.EndpointAddress, 32)}
	if got := TargetsOf(&v1alpha.WorkloadService{Exposure: routed}, many, ""); len(got) != naming.MaxAddresses {
		t.Errorf("%d addresses are asked, and a name has %d", len(got), naming.MaxAddresses)
	}
}
