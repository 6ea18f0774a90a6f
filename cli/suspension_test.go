// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// suspendedMilo is a proxy in front of the project that answers as the Milo of a suspended project does.
type suspendedMilo struct {
	// project is the response for the Project at the root; "" refuses the request.
	project string
	// refuses makes the proxy refuse writes in the project.
	refuses bool
	// writes counts the requested writes without a dry run.
	writes int
}

// config returns the configuration of a user of the project behind this Milo.
func (m *suspendedMilo) config(f *fixture) *rest.Config {
	f.Helper()
	target, err := url.Parse(f.Config().Host)
	if err != nil {
		f.Fatal(err)
	}
	transport, err := rest.TransportFor(f.Config())
	if err != nil {
		f.Fatal(err)
	}
	const (
		group    = "resourcemanager.miloapis.com"
		projects = "/apis/" + group + "/v1alpha1/projects/"
		plane    = projects + "north/control-plane"
	)
	mux := http.NewServeMux()
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	mux.Handle(plane+"/", http.StripPrefix(plane, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			proxy.ServeHTTP(w, r)
			return
		}
		if r.URL.Query().Get("dryRun") != "All" {
			m.writes++
		}
		message := `project "north" is suspended (Billing) and cannot accept new updates while suspended`
		refusal := apierrors.NewForbidden(schema.GroupResource{Group: v1alpha.GroupVersion.Group, Resource: "workloads"},
			"web", errors.New(message))
		if m.refuses {
			refusal.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "ProjectSuspended", Message: message}}
		}
		refuse(w, refusal)
	})))
	mux.HandleFunc(projects+"north", func(w http.ResponseWriter, _ *http.Request) {
		if m.project == "" {
			refuse(w, apierrors.NewForbidden(schema.GroupResource{Group: group, Resource: "projects"}, "north", errors.New("no")))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(m.project))
	})
	server := httptest.NewTLSServer(mux)
	f.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &rest.Config{Host: server.URL + plane, TLSClientConfig: rest.TLSClientConfig{CAData: certificate}}
}

func refuse(w http.ResponseWriter, err *apierrors.StatusError) {
	err.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(err.ErrStatus.Code))
	_ = json.NewEncoder(w).Encode(err.ErrStatus)
}

func projectWith(status string) string {
	return `{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"Project","metadata":{"name":"north"},"status":` + status + `}`
}

// TestASuspendedProjectThatDoesNotShowIt: if the status cannot be written, the tree and the explanation still show that
// the project is suspended. They take it from Milo's Project, or from the refusal of a write that changes nothing.
func TestASuspendedProjectThatDoesNotShowIt(t *testing.T) {
	t.Parallel()
	const suspension = `{"conditions":[{"type":"Suspended","status":"True","reason":"Suspended","message":"","lastTransitionTime":"2026-05-01T11:31:00Z"}],` +
		`"suspensions":[{"reason":"Fraud"},{"reason":"Billing"}]}`
	tests := map[string]struct {
		milo      suspendedMilo
		suspended bool
		want      string
	}{
		"the Project says so": {
			suspendedMilo{project: projectWith(suspension)}, true, "the project is suspended (Billing, Fraud)",
		},
		"the Project is hidden, a write says so": {suspendedMilo{refuses: true}, true, `project "north" is suspended (Billing)`},
		"the Project says that it is not":        {milo: suspendedMilo{project: projectWith(`{"conditions":[]}`), refuses: true}},
		"neither answers":                        {milo: suspendedMilo{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := f.workload(placement("texas", 1, "DFW"))
			f.instance(f.deployment(w, "texas", "DFW", 1), 0, ready)
			user := test.milo.config(f)
			tree, explained := f.kubectl(user, "tree", "web"), f.kubectl(user, "explain", "web")
			if !test.suspended {
				f.want(tree, 0, "web-texas-dfw-0 Ready")
				f.want(explained, 0, "1 of 2 Instances are Ready")
				return
			}
			f.want(tree, 0, "web-texas-dfw-0 Unknown ProjectSuspended", "0/2 Ready", test.want, "refuses status updates")
			f.want(explained, exitNotReady, "0 of 2 Instances are Ready", "ProjectSuspended", test.want, "Ask an operator to resume the project")
			if strings.Contains(tree.out, "10.0.0.1") {
				t.Errorf("the tree has the address of an Instance that does not run:\n%s", tree.out)
			}
			if test.milo.writes > 0 {
				t.Errorf("it writes %d times", test.milo.writes)
			}
		})
	}
}
