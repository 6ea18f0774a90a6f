// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// watched counts the watches of each namespace that pass it.
type watched struct {
	mu    sync.Mutex
	count map[string]int
}

func (w *watched) add(path string, change int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if parts := strings.Split(path, "/"); slices.Contains(parts, "namespaces") {
		w.count[parts[slices.Index(parts, "namespaces")+1]] += change
	}
}

func (w *watched) in(namespace string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count[namespace]
}

// countWatches returns a proxy of the API server that counts its watches.
func (f *fixture) countWatches() (*rest.Config, *watched) {
	f.Helper()
	target, err := url.Parse(f.Config().Host)
	if err != nil {
		f.Fatal(err)
	}
	transport, err := rest.TransportFor(f.Config())
	if err != nil {
		f.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval = transport, -1
	w := &watched{count: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if watch := r.URL.Query().Get("watch"); watch == "true" || watch == "1" {
			w.add(r.URL.Path, 1)
			defer w.add(r.URL.Path, -1)
		}
		proxy.ServeHTTP(out, r)
	}))
	f.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return &rest.Config{Host: server.URL}, w
}

// TestUINamespaces: the user chooses a namespace. The page shows the state of that one alone, and the watches of the
// former one end. A namespace that vanishes is said, with what to do.
func TestUINamespaces(t *testing.T) {
	f := newFixture(t)
	f.scene()
	other := testenv.Namespace(t, f.Client, "other")
	f.create(&v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: other.Name, Name: "elsewhere"}, Spec: v1alpha.WorkloadSpec{
		Template: template(), Placements: []v1alpha.WorkloadPlacement{placement("texas", 2, "DFW")},
	}})
	copies := testenv.Namespace(t, f.Client, "copies")
	metav1.SetMetaDataLabel(&copies.ObjectMeta, v1alpha.LabelProjectUID, string(other.UID))
	if err := f.Client.Update(t.Context(), copies); err != nil {
		t.Fatal(err)
	}
	config, watches := f.countWatches()
	u, stop := f.startUI(config)
	defer stop()
	first := u.until("", func(s *page.State) bool { return s.Loaded })
	if !slices.Contains(first.Namespaces, other.Name) || !slices.Contains(first.Namespaces, f.Namespace.Name) ||
		slices.Contains(first.Namespaces, copies.Name) || first.Namespace != f.Namespace.Name {
		t.Errorf("the user may choose %v, and sees %s", first.Namespaces, first.Namespace)
	}

	u.version, u.namespace = "", other.Name
	chosen := u.until("", func(s *page.State) bool {
		if s.Namespace != other.Name || slices.ContainsFunc(s.Workloads, func(o view.Overview) bool { return o.Name == "web" }) {
			t.Fatalf("state of another namespace: %+v", s)
		}
		return s.Loaded
	})
	if len(chosen.Workloads) != 1 || chosen.Workloads[0].Name != "elsewhere" || len(chosen.Namespaces) == 0 {
		t.Errorf("got %+v", chosen)
	}
	u.followsOnly(other, watches)

	f.vanishes(other)
	gone := u.until("", func(s *page.State) bool { return s.Problem != nil })
	if !strings.Contains(gone.Problem.Message, "does not exist") || !strings.Contains(gone.Problem.Do, "Choose another namespace") ||
		!slices.Contains(gone.Namespaces, f.Namespace.Name) || gone.Namespace != other.Name {
		t.Errorf("got %+v, %+v", gone, gone.Problem)
	}
}

// followsOnly checks that the page follows a namespace, and not the fixture's any more.
func (u *uiPage) followsOnly(chosen *corev1.Namespace, watches *watched) {
	u.Helper()
	if state := u.until("web", func(s *page.State) bool { return s.Loaded }); state.Workload == nil || !state.Workload.Gone {
		u.Errorf("a Workload of the former namespace is %+v", state.Workload)
	}
	if err := wait.PollUntilContextTimeout(u.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return watches.in(u.Namespace.Name) == 0 && watches.in(chosen.Name) > 0, nil
	}); err != nil {
		u.Errorf("%d watches of the former namespace, and %d of the chosen one", watches.in(u.Namespace.Name), watches.in(chosen.Name))
	}
}

// vanishes deletes a namespace with its Workloads, as the namespace controller does.
func (f *fixture) vanishes(namespace *corev1.Namespace) {
	f.Helper()
	if err := f.Client.DeleteAllOf(f.Context(), &v1alpha.Workload{}, client.InNamespace(namespace.Name)); err != nil {
		f.Fatal(err)
	}
	if err := f.Client.Delete(f.Context(), namespace); err != nil {
		f.Fatal(err)
	}
	f.get(namespace)
	namespace.Spec.Finalizers = nil
	if err := f.Client.SubResource("finalize").Update(f.Context(), namespace); err != nil {
		f.Fatal(err)
	}
}

// TestUINamespacesWithoutRights: where the user may not list namespaces, the page has none to choose. One that the user may
// not read is said, with what to do, and shows nothing.
func TestUINamespacesWithoutRights(t *testing.T) {
	f := newFixture(t)
	f.scene()
	consumer := f.user(may(read, "workloads", "workloaddeployments", "instances"))
	u, stop := f.startUI(consumer)
	defer stop()
	if state := u.until("", func(s *page.State) bool { return s.Loaded }); len(state.Namespaces) != 0 || len(state.Workloads) != 1 {
		t.Errorf("got %+v", state)
	}
	u.version, u.namespace = "", "kube-system"
	state := u.until("", func(s *page.State) bool { return s.Problem != nil })
	if state.Loaded || len(state.Workloads) != 0 || !strings.Contains(state.Problem.Message, "forbidden") ||
		!strings.Contains(state.Problem.Do, "Choose another namespace, or ask for a role in this one") {
		t.Errorf("got %+v, %+v", state, state.Problem)
	}
}
