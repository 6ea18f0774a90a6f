// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/test/pages"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// TestGatewayAddress: the Gateway of a cell has an address that the cell may report, and that its load balancers give no Service.
func TestGatewayAddress(t *testing.T) {
	within := LoadBalancerRange(lowestPort)
	at, err := GatewayAddress(within.String())
	if err != nil || !within.Contains(netip.MustParseAddr(at)) {
		t.Fatalf("%s is not within %s: %v", at, within, err)
	}
	balancers := &LoadBalancers{Port: lowestPort, served: map[types.UID]*balanced{}}
	for one := balancers.free(); one != ""; one = balancers.free() {
		if one == at {
			t.Fatalf("a Service gets %s", at)
		}
		balancers.served[types.UID(one)] = &balanced{address: one}
	}
	if _, err := GatewayAddress("nowhere"); err == nil {
		t.Error("a range that cannot be read has an address")
	}
}

// newHub returns a federation without processes, whose hub and whose cell are the API server of the tests, and its kubeconfig.
func newHub(t *testing.T) (*Federation, *plane, string) {
	t.Helper()
	f := newFolder(t)
	f.progress = newProgress(t.Output())
	var err error
	if f.state.Repository, err = tools.FindRepository(); err == nil {
		f.state.Cache, err = tools.DefaultCache()
	}
	if err != nil {
		t.Fatal(err)
	}
	server, err := newPlane(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return f, server, testenv.Kubeconfig(t, testenv.Config(t))
}

// route is the HTTPRoute of a Workload, as the agent writes it.
const route = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: %[1]s, name: shop}
spec:
  hostnames: [shop-shop.apps.example.com, shop.shop.apps.example.com]
  parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra, name: public, sectionName: https}]
  rules: [{backendRefs: [{group: "", kind: Service, name: shop, port: 80, weight: 1}]}]
---
# Further objects: the labels that listener https asks for, and the namespace of the cell's Works.
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s, labels: {compute.datumapis.com/hub-uid: "1"}}
---
apiVersion: v1
kind: Namespace
metadata: {name: karmada-es-dfw-1}
`

// TestTheGatewayOfThePage runs each command of the page on a real controller. A client that trusts the page's certificate reaches a name
// with one label before the domain, and no name with two. Requests in clear text are redirected.
func TestTheGatewayOfThePage(t *testing.T) {
	for _, command := range []string{"openssl", "curl"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skip(err)
		}
	}
	f, server, kubeconfig := newHub(t)
	gateway := ownGateway(t, f)
	client, namespace, listener := serviceOfProcesses(t)
	ctx := t.Context()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: namespace},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "webhook", Port: 80}}},
	}
	slice := endpoints(service, int32(listener.Addr().(*net.TCPAddr).Port), map[string]bool{ownAddress(t): true})
	_, err := client.CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{})
	if err == nil {
		_, err = client.DiscoveryV1().EndpointSlices(namespace).Create(ctx, slice, metav1.CreateOptions{})
	}
	if err == nil {
		err = f.applyGatewayAPI(ctx, server)
	}
	if err == nil {
		err = server.applyText(ctx, fmt.Sprintf(route, namespace))
	}
	if err == nil {
		err = f.startGatewayController(ctx, "gateway", kubeconfig, gateway)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.createGateway(ctx, gateway, map[string]string{"HUB": kubeconfig, "CELL": kubeconfig}, strings.NewReplacer()); err != nil {
		t.Fatal(err)
	}
	if err := await(ctx, readyInterval, server.gatewayProgrammed); err != nil {
		t.Fatal(err)
	}
	const name = "shop-shop.apps.example.com"
	answers := func(ctx context.Context) error {
		_, err := gateway.Get(ctx, "https", name)
		return err
	}
	if err := Await(ctx, readyInterval, time.Minute, answers); err != nil {
		t.Fatal(err)
	}
	var refused x509.HostnameError
	if _, err := gateway.Get(ctx, "https", "shop.shop.apps.example.com"); !errors.As(err, &refused) {
		t.Errorf("a name with two labels before the domain: %v", err)
	}
	for _, named := range []string{name, "shop.shop.apps.example.com"} {
		// The controller may learn of the route that redirects last.
		if err := Await(ctx, readyInterval, time.Minute, func(ctx context.Context) error { return gateway.redirects(ctx, named) }); err != nil {
			t.Error(err)
		}
	}
	runRequests(t, f, gateway)
}

// ownGateway is a Gateway that can listen at this machine.
func ownGateway(t *testing.T, f *Federation) *Gateway {
	t.Helper()
	ports, err := reservePorts(f.folder, 1)
	if err != nil {
		t.Fatal(err)
	}
	gateway, err := gatewayWithin(LoadBalancerRange(ports[0]).String(), false)
	if err != nil {
		t.Fatal(err)
	}
	trial, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(gateway.listens, fmt.Sprint(tlsPort)))
	if err != nil {
		t.Skip("only some users may listen on the ports of the page: ", err)
	}
	if err := trial.Close(); err != nil {
		t.Fatal(err)
	}
	return gateway
}

// runRequests runs the requests of the page.
func runRequests(t *testing.T, f *Federation, gateway *Gateway) {
	t.Helper()
	page, err := pages.Read(filepath.Join(f.state.Repository, addressesPage))
	if err != nil {
		t.Fatal(err)
	}
	section := page.Section(gatewayHeading, strings.NewReplacer("203.0.113.7", gateway.listens))
	section.Blocks = section.Blocks[len(section.Blocks)-1:]
	shell, err := pages.NewShell(t.Context(), gateway.folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	eventually := func(ctx context.Context, check func(context.Context) error) error {
		return Await(ctx, readyInterval, time.Minute, check)
	}
	if err := errors.Join(section.Run(t.Context(), shell, eventually, nil), shell.Close()); err != nil {
		t.Error(err)
	}
}

// ownAddress is an address of this machine that an EndpointSlice may have.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil && prefix.Addr().Is4() && prefix.Addr().IsGlobalUnicast() {
			return prefix.Addr().String()
		}
	}
	t.Skip("this machine has no address but the ones of its loopback")
	return ""
}
