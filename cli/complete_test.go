// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/cli/command"
)

func TestCompletion(t *testing.T) {
	f := newFixture(t)
	f.scene()
	f.want(f.kubectl(f.Config(), "__complete", "tree", ""), 0, "web\n:4")
	f.want(f.kubectl(f.Config(), "__complete", "explain", ""), 0, "web\nweb-texas-dfw-0\nweb-texas-dfw-1\n:4")
	f.want(f.kubectl(f.Config(), "__complete", "tree", "web", "-o", ""), 0, "jsonpath", "wide")
	f.want(f.kubectl(f.user(), "__complete", "tree", ""), 0, ":4")
}

// TestProjectBelowRoot: the control plane of a project has a path below Milo's root, and a cell one below the hub.
func TestProjectBelowRoot(t *testing.T) {
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		path = request.URL.Path
		http.NotFound(response, request)
	}))
	defer server.Close()
	f := newFixture(t)
	_, d := f.scene()
	f.copied(d)
	milo := f.kubeconfig(&rest.Config{Host: server.URL})
	f.want(f.karmadactl("restart", "web", "--project", "north", "--milo-kubeconfig", milo), 1)
	want := "/apis/resourcemanager.miloapis.com/v1alpha1/projects/north/control-plane/apis/compute.datumapis.com/v1alpha/namespaces/" +
		f.Namespace.Name + "/workloads/web"
	if path != want {
		t.Errorf("asked for %s, want %s", path, want)
	}
	if got := command.CellConfig(&rest.Config{Host: "https://hub/"},
		"dfw-1").Host; got != "https://hub/apis/cluster.karmada.io/v1alpha1/clusters/dfw-1/proxy/" {
		t.Errorf("a cell is at %s", got)
	}
}
