// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestServes(t *testing.T) {
	for path, want := range map[string]bool{
		"/version": true, "/readyz": true, "/api": true, "/api/v1": true, "/api/v1/": true, "/apis": true,
		"/apis/rbac.authorization.k8s.io/v1/clusterroles":         true,
		"/apis/networking.datumapis.com/v1alpha/locationbindings": true,
		"/apis/networking.k8s.io":                                 false,
		"/apis/networking.k8s.io/v1/namespaces/a/networkpolicies": false,
		"/api/v1/events":                               true,
		"/api/v1/namespaces":                           true,
		"/api/v1/namespaces/pods":                      true,
		"/api/v1/namespaces/a/status":                  true,
		"/api/v1/namespaces/a/finalize":                true,
		"/api/v1/namespaces/a/events/web.1":            true,
		"/api/v1/namespaces/a/secrets":                 true,
		"/api/v1/namespaces/a/configmaps":              true,
		"/api/v1/watch/namespaces/a/configmaps":        true,
		"/api/v1/pods":                                 false,
		"/api/v1/nodes/a/status":                       false,
		"/api/v1/watch/pods":                           false,
		"/api/v1/namespaces/a/pods/b/log":              false,
		"/api/v1/namespaces/a/services":                false,
		"/api/v1/namespaces/a/serviceaccounts/b/token": false,
		"/api/v1/namespaces/a/resourcequotas":          false,
	} {
		if got := serves(path); got != want {
			t.Errorf("serves(%q) is %t", path, got)
		}
	}
}

func TestHideUnserved(t *testing.T) {
	for name, tc := range map[string]struct{ document, want string }{
		"no list": {`{"kind":"APIVersions","versions":["v1"]}`, `{"kind":"APIVersions","versions":["v1"]}`},
		"groups":  {`{"groups":[{"name":"networking.k8s.io"},{"name":"a"}]}`, `{"groups":[{"name":"a"}]}`},
		"core resources": {
			`{"resources":[{"name":"pods"},{"name":"namespaces/status"},{"name":"events"}]}`,
			`{"resources":[{"name":"namespaces/status"},{"name":"events"}]}`,
		},
		"groups, aggregated": {
			`{"items":[{"metadata":{"name":"networking.k8s.io"}},{"metadata":{"name":"a"},"versions":[{"resources":[{"resource":"b"}]}]}]}`,
			`{"items":[{"metadata":{"name":"a"},"versions":[{"resources":[{"resource":"b"}]}]}]}`,
		},
		"core resources, aggregated": {
			`{"items":[{"metadata":{},"versions":[{"resources":[{"resource":"pods"},{"resource":"events"}]}]}]}`,
			`{"items":[{"metadata":{},"versions":[{"resources":[{"resource":"events"}]}]}]}`,
		},
	} {
		response := &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json;g=apidiscovery.k8s.io;v=v2"}},
			Body: io.NopCloser(strings.NewReader(tc.document)),
		}
		if err := hideUnserved(response); err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(response.Body); err != nil || string(body) != tc.want {
			t.Errorf("%s: %s becomes %s, %v", name, tc.document, body, err)
		}
	}
}

// TestRouterHidesWhatMiloDoesNotServe at the root and in projects.
func TestRouterHidesWhatMiloDoesNotServe(t *testing.T) {
	f := newFixture(t)
	client := f.client(t, "jane")
	for _, place := range []string{"", northPath} {
		response, body := f.get(t, client, place+"/api/v1/namespaces/default/pods", nil)
		var status struct{ Reason string }
		if err := json.Unmarshal(body, &status); err != nil || response.StatusCode != http.StatusNotFound || status.Reason != "NotFound" {
			t.Errorf("Pods at %q are answered %s: %s", place, response.Status, body)
		}
		if response, body = f.get(t, client, place+"/api/v1/namespaces/default/events", nil); response.StatusCode != http.StatusOK {
			t.Errorf("Events at %q are answered %s: %s", place, response.Status, body)
		}
		if response, body = f.get(t, client, place+"/apis", nil); response.StatusCode != http.StatusOK ||
			strings.Contains(string(body), hiddenGroup) {
			t.Errorf("discovery at %q is answered %s: %s", place, response.Status, body)
		}
	}
}
