// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/test/federation/containers"
	"github.com/karmada-compute/karmada-compute/test/federation/node"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestLoadBalancers: a Service of type LoadBalancer has an address, at which its ready endpoints answer, on the ports that
// it has now. A deleted one has none.
func TestLoadBalancers(t *testing.T) {
	client, namespace, listener := serviceOfProcesses(t)
	_, port, err := net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	reserved, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	balancers := &LoadBalancers{Config: testenv.Config(t), Port: reserved, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- balancers.Serve(ctx) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()

	services := client.CoreV1().Services(namespace)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Name: "webhook", Port: 8000}}},
	}
	if service, err = services.Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	service.Namespace = namespace
	slice := endpoints(service, int32(listener.Addr().(*net.TCPAddr).Port), map[string]bool{"10.1.2.3": true, "10.1.2.4": false})
	if _, err := client.DiscoveryV1().EndpointSlices(namespace).Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	first := LoadBalancerRange(balancers.Port).Addr().Next().String()
	local, err := node.Local(first)
	if err != nil {
		t.Fatal(err)
	}
	awaitAnswers(t, net.JoinHostPort(local, "8000"), "127.1.2.3", "127.1.2.3")
	if service, err = services.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || len(service.Status.LoadBalancer.Ingress) != 1 ||
		service.Status.LoadBalancer.Ingress[0].IP != first {
		t.Errorf("its addresses are %v, want %s: %v", service.Status.LoadBalancer.Ingress, first, err)
	}

	patch := []byte(`[{"op":"replace","path":"/spec/ports/0/port","value":8001}]`)
	if _, err := services.Patch(t.Context(), "web", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitAnswers(t, net.JoinHostPort(local, "8001"), "127.1.2.3", "127.1.2.3")
	awaitAnswers(t, net.JoinHostPort(local, "8000"))

	if err := services.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitAnswers(t, net.JoinHostPort(local, "8001"))
}

// TestLoadBalancerRange: no two reserved ports have a range in common, nor one in common with Pods, Services and nodes.
func TestLoadBalancerRange(t *testing.T) {
	seen := map[netip.Prefix]int{}
	for port := lowestPort; port < highestPort; port++ {
		within := LoadBalancerRange(port)
		second := within.Addr().As4()[1]
		if other, has := seen[within]; has || second < 97 || second >= 213 {
			t.Fatalf("port %d has %s, as port %d has", port, within, other)
		}
		seen[within] = port
	}
}

// TestReachable: the address itself answers on this machine, also of a Service that exists before its load balancer starts, as after a
// restart. The route to it ends with the load balancers.
func TestReachable(t *testing.T) {
	if err := containers.Missing(); err != nil {
		t.Skip("a route needs what nodes of containers need: ", err)
	}
	client, namespace, listener := serviceOfProcesses(t)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "early"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Name: "webhook", Port: 8000}}},
	}
	service, err := client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	slice := endpoints(service, int32(listener.Addr().(*net.TCPAddr).Port), map[string]bool{"10.1.2.3": true})
	if _, err := client.DiscoveryV1().EndpointSlices(namespace).Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	reserved, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		balancers := &LoadBalancers{
			Config: testenv.Config(t), Port: reserved, Reachable: true, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- balancers.Serve(ctx) }()
		// Before there is a route, something else on the network may answer for the address.
		if err := waitReady(t.Context(), Process{Ready: accepts(address(reserved))}, &exit{done: make(chan struct{})}); err != nil {
			t.Fatal(err)
		}
		awaitAnswers(t, net.JoinHostPort(LoadBalancerRange(reserved).Addr().Next().String(), "8000"), "127.1.2.3", "127.1.2.3")
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := containers.IP(t.Context(), "route", "delete", "local", LoadBalancerRange(reserved).String(), "dev", "lo"); err == nil {
			t.Error("the route stays")
		}
	}
	if err := client.CoreV1().Services(namespace).Delete(t.Context(), "early", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
