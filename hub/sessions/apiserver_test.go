// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// karmadasProxy passes requests on to a real API server as User, as Karmada's proxy does.
func karmadasProxy(t *testing.T) http.Handler {
	t.Helper()
	config := rest.CopyConfig(testenv.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: User}
	config.NextProtos = []string{"http/1.1"}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = to.Scheme, to.Host, ""
		_, p.Out.URL.Path, _ = strings.Cut(p.In.URL.Path, "/proxy")
	}}
}

// TestThroughAnAPIServer: a log comes from a kubelet through a real API server, with the role that the agents bind in
// the namespace; without the RoleBinding it is refused.
func TestThroughAnAPIServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, karmadasProxy(t))
	paths := make(chan string, 10)
	f.runPod(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.Path
		fmt.Fprintln(w, "of the kubelet")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	key := newKey(t)
	follow := func(s *v1alpha.InstanceSessionSpec) { s.Logs = &v1alpha.SessionLogOptions{Follow: true} }
	_, refused := f.create(t, key, follow)
	if response := f.get(t, f.addressOf(refused), key); response.StatusCode != http.StatusForbidden {
		t.Errorf("without a RoleBinding: %d, %q", response.StatusCode, readAll(t, response))
	}
	f.bind(t)
	_, grant := f.create(t, key, follow)
	response := f.get(t, f.addressOf(grant), key)
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	if line != "of the kubelet\n" || err != nil {
		t.Fatalf("%d, %q, %v", response.StatusCode, line, err)
	}
	if got, want := <-paths, "/containerLogs/"+f.HubNamespace+"/web-main-dfw-0/app"; got != want {
		t.Errorf("the kubelet got %s, want %s", got, want)
	}
}

// bind binds the role of the agents' chart, as the agent does, and waits until the API server knows it.
func (f *fixture) bind(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile("../../cell/access/streams/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.Unmarshal(content, role); err != nil {
		t.Fatal(err)
	}
	// Tests share the role.
	if err := f.Client.Create(t.Context(), role); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	if err := f.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: User}},
	}); err != nil {
		t.Fatal(err)
	}
	f.awaitRight(t, User, authorizationv1.ResourceAttributes{Namespace: f.HubNamespace, Verb: "create", Resource: "pods", Subresource: "exec"})
}

// awaitRight waits until the API server knows a right of a user: it learns of bindings from a watch.
func (f *fixture) awaitRight(t *testing.T, user string, right authorizationv1.ResourceAttributes) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &right}}
		err := f.Client.Create(ctx, review)
		return review.Status.Allowed, err
	}); err != nil {
		t.Fatalf("user %s may not %s %s: %v", user, right.Verb, right.Resource, err)
	}
}

// runPod creates the Pod of the Instance on a node whose kubelet is a handler.
func (f *fixture) runPod(t *testing.T, kubelet http.Handler) {
	t.Helper()
	address := ownAddress(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: kubelet, ReadHeaderTimeout: time.Minute}}
	server.StartTLS()
	t.Cleanup(server.CloseClientConnections)
	_, text, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-"}}
	if err := f.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	node.Status = corev1.NodeStatus{
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(port)}},
	}
	if err := f.Client.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: f.instance.Name},
		Spec:       corev1.PodSpec{NodeName: node.Name, Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
	}
	if err := f.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// ownAddress returns an address of this machine: an API server refuses to connect to a kubelet at the loopback address.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range addresses {
		if network, ok := one.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	t.Skip("this machine has no IPv4 address but the loopback address")
	return ""
}
