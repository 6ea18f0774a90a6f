// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// projectAt returns a client of a project whose API server is a handler.
func projectAt(t *testing.T, handler http.HandlerFunc) client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	scheme := runtime.NewScheme()
	if err := v1alpha.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha.GroupVersion.WithKind(v1alpha.KindInstanceSession), meta.RESTScopeNamespace)
	project, err := client.New(&rest.Config{Host: server.URL}, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// TestAwaitBearsFailedReads verifies that a session is awaited although some reads of it fail, and not when it does not
// exist.
func TestAwaitBearsFailedReads(t *testing.T) {
	session := &v1alpha.InstanceSession{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindInstanceSession},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "exec-1"},
		Status: v1alpha.InstanceSessionStatus{URL: "https://sessions.example", Conditions: []metav1.Condition{
			{Type: v1alpha.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonSessionReady},
		}},
	}
	for name, c := range map[string]struct {
		fail http.HandlerFunc
		want string
	}{
		"a broken connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ""},
		"an error": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "etcdserver: leader changed", http.StatusInternalServerError)
		}, ""},
		"a deleted session": {http.NotFound, "could not find"},
	} {
		t.Run(name, func(t *testing.T) {
			var reads atomic.Int32
			project := projectAt(t, func(w http.ResponseWriter, r *http.Request) {
				if reads.Add(1) <= 2 {
					c.fail(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				if err := json.NewEncoder(w).Encode(session); err != nil {
					t.Error(err)
				}
			})
			opened := &Session{project: project, object: &v1alpha.InstanceSession{ObjectMeta: *session.ObjectMeta.DeepCopy()}}
			err := opened.await(t.Context())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// TestLogsFollowNoRedirect verifies that the client of a session sends its request to no other server.
func TestLogsFollowNoRedirect(t *testing.T) {
	reached := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(elsewhere.Close)
	replica := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(replica.Close)
	var out strings.Builder
	opened := &Session{config: &rest.Config{Host: replica.URL}}
	if err := opened.Logs(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "307") || reached {
		t.Errorf("the client was elsewhere: %t; it ended with %v", reached, err)
	}
}
