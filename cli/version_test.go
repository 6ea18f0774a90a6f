// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestVersionOfTheServer: a user without any right in the project reads the release from a real API server.
func TestVersionOfTheServer(t *testing.T) {
	f := newFixture(t)
	nobody := f.user()
	last := result{}
	until := func(fits func() bool) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(f.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			last = f.kubectl(nobody, "version")
			return fits(), nil
		}); err != nil {
			t.Fatalf("%v: %+v", err, last)
		}
	}
	until(func() bool { return strings.Contains(last.errOut, "unknown: its kinds do not name their release") })

	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	crd.SetName("workloads.compute.datumapis.com")
	patch := `[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/description",
		"value":"A Workload.\n\nInstalled by karmada-compute v0.9.1."}]`
	if err := f.Client.Patch(f.Context(), crd, client.RawPatch(types.JSONPatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	until(func() bool { return strings.Contains(last.out, "\nserver v0.9.1\n") })

	found := versions{}
	if r := f.kubectl(nobody, "version", "-o", "json"); json.Unmarshal([]byte(r.out), &found) != nil || found.ServerVersion != "v0.9.1" {
		t.Errorf("as JSON: %+v", r)
	}
	if r := f.kubectl(nobody, "version", "--client"); strings.Contains(r.out+r.errOut, "server") {
		t.Errorf("--client asks the server: %+v", r)
	}
}

// TestVersionWithoutAServer: a server that cannot be asked, or that answers with something else, is a line and no error.
func TestVersionWithoutAServer(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"lead to the project": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"401 Unauthorized":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"is no JSON":          func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"more than 8388608 bytes": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.Repeat(" ", mostOpenAPI+1)))
		},
		"do not name": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"components":{"schemas":{"a.Workload":{"description":"Installed by karmada-compute v1\u001b[31m."}}}}`))
		},
	}
	for want, answer := range answers {
		server := httptest.NewServer(answer)
		if r := versionAt(t, server.URL); r.err != nil || r.code != 0 || !strings.Contains(r.errOut, want) || strings.Contains(r.out, "server") {
			t.Errorf("%q is missing: %+v", want, r)
		}
		server.Close()
	}

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	if r := versionAt(t, "http://"+listener.Addr().String()); r.err != nil || !strings.Contains(r.errOut, "was refused") {
		t.Errorf("no server: %+v", r)
	}
}

// versionAt calls version with a server.
func versionAt(t *testing.T, server string) result {
	t.Helper()
	f := &fixture{T: t, Planes: &planes.Planes{Namespace: &corev1.Namespace{}}}
	return f.kubectl(&rest.Config{Host: server}, "version")
}
