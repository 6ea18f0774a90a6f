// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	clusterapis "github.com/karmada-io/karmada/pkg/apis/cluster"
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	karmadaproxy "github.com/karmada-io/karmada/pkg/util/proxy"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// behindTunnel is the address of a cell's API server that only the tunnel can resolve.
const behindTunnel = "cell.karmada-compute.test:6443"

// tunnel is an HTTP proxy that connects to the API server of a cell, as apiserver-network-proxy does for a cell in pull
// mode.
type tunnel struct {
	url       string
	connected atomic.Int32
}

func newTunnel(t *testing.T) *tunnel {
	t.Helper()
	apiServer, err := url.Parse(testenv.Config(t).Host)
	if err != nil {
		t.Fatal(err)
	}
	own := &tunnel{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != behindTunnel {
			http.Error(w, "this tunnel leads to "+behindTunnel, http.StatusForbidden)
			return
		}
		to, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", apiServer.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		from, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = to.Close()
			return
		}
		own.connected.Add(1)
		fmt.Fprint(from, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(to, from) // either end is the end of both
			_ = to.Close()
		}()
		_, _ = io.Copy(from, to)
		_ = from.Close()
	}))
	t.Cleanup(server.CloseClientConnections)
	own.url = server.URL
	return own
}

// karmada is the proxy of Karmada's aggregated API server: its own code, with the Clusters of a hub.
type karmada struct {
	hub client.Client
	// token is the credential in the cell.
	token []byte
}

// ServeHTTP implements http.Handler for the path of subresource clusters/proxy.
func (k *karmada) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/apis/cluster.karmada.io/v1alpha1/clusters/"), "/proxy")
	stored, cluster := &clusterv1alpha1.Cluster{}, &clusterapis.Cluster{}
	if err := k.hub.Get(r.Context(), client.ObjectKey{Name: name}, stored); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if err := clusterv1alpha1.Convert_v1alpha1_Cluster_To_cluster_Cluster(stored, cluster, nil); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	handler, err := karmadaproxy.ConnectCluster(r.Context(), cluster, path, func(context.Context, string, string) (*corev1.Secret, error) {
		return &corev1.Secret{Data: map[string][]byte{clusterapis.SecretTokenKey: k.token}}, nil
	}, responder{w})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	handler.ServeHTTP(w, r.WithContext(request.WithUser(r.Context(), &user.DefaultInfo{Name: User})))
}

// responder answers for a proxy that has failed.
type responder struct{ http.ResponseWriter }

// Object is not used by the proxy.
func (r responder) Object(status int, _ runtime.Object) { r.WriteHeader(status) }

// Error answers with an error.
func (r responder) Error(err error) { http.Error(r, err.Error(), http.StatusBadGateway) }

// impersonator returns a token of a ServiceAccount that may impersonate users, as the one of Karmada in a cell.
func (f *fixture) impersonator(t *testing.T) []byte {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "karmada-impersonator"}}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "karmada-impersonator-"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"users"}, Verbs: []string{"impersonate"}}},
	}
	for _, object := range []client.Object{account, role} {
		if err := f.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}); err != nil {
		t.Fatal(err)
	}
	name := "system:serviceaccount:" + account.Namespace + ":" + account.Name
	f.awaitRight(t, name, authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "users", Name: User})
	review := &authenticationv1.TokenRequest{}
	if err := f.Client.SubResource("token").Create(t.Context(), account, review); err != nil {
		t.Fatal(err)
	}
	return []byte(review.Status.Token)
}

// pull changes the cell to pull mode, with a tunnel through which Karmada's proxy reaches it.
func (f *fixture) pull(t *testing.T, through string) {
	t.Helper()
	f.cell.Spec.SyncMode, f.cell.Spec.ProxyURL = clusterv1alpha1.Pull, through
	f.cell.Spec.APIEndpoint, f.cell.Spec.InsecureSkipTLSVerification = "https://"+behindTunnel, true
	if err := f.Client.Update(t.Context(), f.cell); err != nil {
		t.Fatal(err)
	}
}

// TestPullModeThroughATunnel verifies that logs and commands of a cell in pull mode pass Karmada's proxy and the tunnel
// of spec.proxyURL to a real API server, which no other path leads to.
func TestPullModeThroughATunnel(t *testing.T) {
	t.Parallel()
	cells := &karmada{}
	f := newFixture(t, cells)
	cells.hub, cells.token = f.Client, f.impersonator(t)
	through := newTunnel(t)
	f.pull(t, through.url)
	f.runPod(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/exec/") {
			echo(w, r)
			return
		}
		fmt.Fprintln(w, "of the kubelet")
	}))
	f.bind(t)
	key := newKey(t)
	session, grant := f.create(t, key)
	f.await(t, session, v1alpha.ReasonSessionReady)
	log := f.get(t, f.addressOf(grant), key)
	if text := readAll(t, log); log.StatusCode != http.StatusOK || text != "of the kubelet\n" {
		t.Errorf("the log: %d, %q", log.StatusCode, text)
	}
	logs := through.connected.Load()
	if logs == 0 {
		t.Error("the log did not pass the tunnel")
	}
	_, command := f.create(t, key, exec)
	response, connection := f.dialWith(t, f.addressOf(command), key, http.Header{
		"Upgrade": {"websocket"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Protocol": {"v4.channel.k8s.io"},
	})
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the command: %d, %q", response.StatusCode, readAll(t, response))
	}
	fmt.Fprint(connection, "hello")
	got := make([]byte, 5)
	if _, err := io.ReadFull(connection, got); string(got) != "hello" {
		t.Errorf("the command answers %q, %v", got, err)
	}
	if through.connected.Load() == logs {
		t.Error("the command did not pass the tunnel")
	}
}
