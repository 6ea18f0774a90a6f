// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, testenv.Options{CRDPaths: []string{"milo/crds/networking.datumapis.com_locationbindings.yaml"}}))
}

// process answers every request with its address. It listens on all of the loopback addresses.
func process(t *testing.T, listener net.Listener) {
	t.Helper()
	server := &httptest.Server{Listener: listener, Config: &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprint(w, r.Context().Value(http.LocalAddrContextKey))
		}),
	}}
	server.Start()
	t.Cleanup(server.Close)
}

// endpoints returns a slice of a Service's endpoints, each with its readiness.
func endpoints(service *corev1.Service, port int32, ready map[string]bool) *discoveryv1.EndpointSlice {
	name := "webhook"
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: service.Name, Namespace: service.Namespace, Labels: map[string]string{discoveryv1.LabelServiceName: service.Name},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
	}
	for address, is := range ready {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: &is},
		})
	}
	return slice
}

// serviceOfProcesses returns a namespace for a Service, and the listener of its processes.
func serviceOfProcesses(t *testing.T) (*kubernetes.Clientset, string, net.Listener) {
	t.Helper()
	client, err := kubernetes.NewForConfig(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "service-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	process(t, listener)
	return client, namespace.Name, listener
}

// TestBalancerFollowsService verifies that new connections reach the ready endpoints of a Service only, and that a
// connection survives the end of its endpoint.
func TestBalancerFollowsService(t *testing.T) {
	client, namespace, listener := serviceOfProcesses(t)
	port := int32(listener.Addr().(*net.TCPAddr).Port)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	balancer := &Balancer{Listen: freeAddress(t), Log: log, Service: &Service{
		Config: testenv.Config(t), Namespace: namespace, Name: "web", Port: "webhook", Log: log,
	}}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- balancer.Serve(ctx) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "webhook", Port: 443, TargetPort: intstr.FromInt32(port)}}},
	}
	if _, err := client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	slices := client.DiscoveryV1().EndpointSlices(namespace)
	if _, err := slices.Create(t.Context(), endpoints(service, port,
		map[string]bool{"10.7.0.1": true, "10.7.0.2": false}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitAnswers(t, balancer.Listen, "127.7.0.1", "127.7.0.1")
	old, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", balancer.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	answersOn(t, old, "127.7.0.1")
	for _, step := range []struct {
		ready map[string]bool
		want  []string
	}{
		{map[string]bool{"10.7.0.1": true, "10.7.0.2": true, "192.0.2.1": true}, []string{"127.7.0.1", "127.7.0.2"}},
		{map[string]bool{"10.7.0.1": false, "10.7.0.2": true}, []string{"127.7.0.2", "127.7.0.2"}},
		{map[string]bool{"10.7.0.1": false}, nil},
	} {
		if _, err := slices.Update(t.Context(), endpoints(service, port, step.ready), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		awaitAnswers(t, balancer.Listen, step.want...)
	}
	answersOn(t, old, "127.7.0.1")
}

// awaitAnswers waits until two requests in turn are answered by these addresses, or fail if there are none.
func awaitAnswers(t *testing.T, balancer string, want ...string) {
	t.Helper()
	err := waitReady(t.Context(), Process{Ready: func(ctx context.Context) error {
		var got []string
		for range 2 {
			answer, err := ask(ctx, balancer)
			if err != nil && len(want) > 0 {
				return err
			}
			if err == nil {
				got = append(got, answer[:strings.LastIndex(answer, ":")])
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("answers are from %v, want %v", got, want)
		}
		return nil
	}}, &exit{done: make(chan struct{})})
	if err != nil {
		t.Fatal(err)
	}
}

// answersOn sends a request over an open connection.
func answersOn(t *testing.T, connection net.Conn, want string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://balancer/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := request.Write(connection); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer strings.Builder
	if _, err := bufio.NewReader(response.Body).WriteTo(&answer); err != nil || !strings.HasPrefix(answer.String(), want+":") {
		t.Errorf("an open connection is answered by %s, %v; want %s", answer.String(), err, want)
	}
}
