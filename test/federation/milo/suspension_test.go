// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestASuspendedProjectRefusesWrites: it refuses creates and updates, also of a status. It admits deletions, access
// reviews, the finalizers of an object that is being deleted, and all requests of an administrator.
func TestASuspendedProjectRefusesWrites(t *testing.T) {
	f := newFixture(t)
	const object = "/apis/compute.datumapis.com/v1alpha/namespaces/default/workloads/"
	tests := map[string]struct {
		user, method, path string
		running, want      bool
	}{
		"create":                        {user: "alice", method: http.MethodPost, path: object[:len(object)-1], want: true},
		"an Event":                      {user: "alice", method: http.MethodPost, path: "/api/v1/namespaces/default/events", want: true},
		"update":                        {user: "alice", method: http.MethodPut, path: object + "web", want: true},
		"a status":                      {user: "alice", method: http.MethodPatch, path: object + "web/status", want: true},
		"read":                          {user: "alice", method: http.MethodGet, path: object + "web"},
		"delete":                        {user: "alice", method: http.MethodDelete, path: object + "web"},
		"an object that is terminating": {user: "alice", method: http.MethodPatch, path: object + "terminating"},
		"an access review":              {user: "alice", method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
		"an administrator":              {user: "root", method: http.MethodPost, path: object[:len(object)-1]},
		"a project that is running":     {user: "alice", method: http.MethodPost, path: object[:len(object)-1], running: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f.suspensions = []string{"Abuse", "Billing"}
			if test.running {
				f.suspensions = nil
			}
			code, body := f.ask(t, test.user, test.method, northPath+test.path)
			if (code == http.StatusForbidden) != test.want {
				t.Fatalf("answered %d: %s", code, body)
			}
			if !test.want {
				return
			}
			var status metav1.Status
			if err := json.Unmarshal(body, &status); err != nil || status.Details == nil ||
				!slices.ContainsFunc(status.Details.Causes, func(c metav1.StatusCause) bool { return c.Type == "ProjectSuspended" }) {
				t.Errorf("answered %s (%v)", body, err)
			}
		})
	}
}

// ask sends a request without a body as a user, and returns the answer.
func (f *fixture) ask(t *testing.T, user, method, path string) (code int, body []byte) {
	t.Helper()
	var groups []string
	if user == "root" {
		groups = []string{mastersGroup}
	}
	request, err := http.NewRequestWithContext(t.Context(), method, f.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := f.client(t, user, groups...).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

// TestSuspensionsOf: an older Milo sets only the condition, and still accepts writes.
func TestSuspensionsOf(t *testing.T) {
	condition := func(status string) []any { return []any{map[string]any{"type": "Suspended", "status": status}} }
	listed := []any{map[string]any{"reason": "Fraud"}, map[string]any{"reason": "Billing"}, map[string]any{"reason": "Fraud"}}
	tests := map[string]struct {
		status map[string]any
		want   []string
	}{
		"no status":          {},
		"the condition only": {status: map[string]any{"conditions": condition("True")}},
		"with suspensions":   {map[string]any{"conditions": condition("True"), "suspensions": listed}, []string{"Billing", "Fraud"}},
		"resumed":            {status: map[string]any{"conditions": condition("False"), "suspensions": listed}},
	}
	for name, test := range tests {
		var got []string
		if found := suspensionsOf(&unstructured.Unstructured{Object: map[string]any{"status": test.status}}); found != nil {
			got = *found
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
