// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestDryRun: every command that changes a Workload can be tried, and changes nothing then.
func TestDryRun(t *testing.T) {
	f := newFixture(t)
	w := f.workload(placement("texas", 2, "DFW"))
	f.get(w)
	before := w.ResourceVersion
	commands := map[string][]string{
		"scaled":        {"scale", "web", "--replicas", "3"},
		"restarted":     {"restart", "web"},
		"image updated": {"set", "image", "web", "*=example.com/other:1"},
		"paused":        {"rollout", "pause", "web"},
	}
	for done, args := range commands {
		for dryRun, suffix := range map[string]string{"server": " (server dry run)", "client": " (dry run)"} {
			f.want(f.kubectl(f.Config(), append(args, "--dry-run="+dryRun)...), 0, "web "+done+suffix)
		}
		f.want(f.kubectl(f.Config(), append(args, "--dry-run=maybe")...), 1, "--dry-run")
	}
	f.want(f.kubectl(f.user(may(read, "workloads")), "scale", "web", "--replicas", "3", "--dry-run=server"), 1, "forbidden")
	f.want(f.kubectl(f.Config(), "scale", "web", "--replicas", "-1", "--dry-run=client"), 1, "--replicas")
	if f.get(w); w.ResourceVersion != before {
		t.Errorf("the Workload has changed: %+v", w.Spec)
	}
}

// TestDiff: a change is shown as a diff of what a user writes, and a request that changes nothing has no diff.
func TestDiff(t *testing.T) {
	f := newFixture(t)
	w := f.workload(placement("texas", 2, "DFW"))
	shown := f.kubectl(f.Config(), "scale", "web", "--replicas", "3", "--diff", "--dry-run=server")
	f.want(shown, 0, "-      minReplicas: 2", "+      minReplicas: 3", "web scaled (server dry run)")
	if strings.Contains(shown.out, "resourceVersion") || strings.Contains(shown.out, "status") {
		t.Errorf("the diff has what no user writes:\n%s", shown.out)
	}
	f.want(f.kubectl(f.Config(), "scale", "web", "--replicas", "3", "--diff"), 0, "+      minReplicas: 3", "web scaled")
	if f.get(w); w.Spec.Placements[0].ScaleSettings.MinReplicas != 3 {
		t.Errorf("placements %+v", w.Spec.Placements)
	}
	if same := f.kubectl(f.Config(), "scale", "web", "--replicas", "3", "--diff"); strings.Contains(same.out, "@@") {
		t.Errorf("no change is shown as\n%s", same.out)
	}
}

// TestRun: a first Workload without a manifest, and the manifest to begin with.
func TestRun(t *testing.T) {
	f := newFixture(t)
	args := []string{"run", "first", "--image", "example.com/app:1", "--city", "DFW", "--city", "ORD", "--replicas", "2", "--port", "80"}
	printed := f.kubectl(f.Config(), append(args, "--dry-run=client", "-o", "yaml")...)
	f.want(printed, 0)
	manifest := &v1alpha.Workload{}
	if err := yaml.UnmarshalStrict([]byte(printed.out), manifest); err != nil || manifest.Spec.Placements[0].ScaleSettings.MinReplicas != 2 {
		t.Errorf("%v in\n%s", err, printed.out)
	}
	f.want(f.kubectl(f.Config(), append(args, "--dry-run=server")...), 0, "first created (server dry run)")
	created := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "first"}}
	if err := f.Client.Get(t.Context(), client.ObjectKeyFromObject(created), created); !apierrors.IsNotFound(err) {
		t.Fatalf("a dry run: %v", err)
	}

	f.want(f.kubectl(f.Config(), append(args, "--", "--verbose")...), 0, "workload.compute.datumapis.com/first created")
	f.get(created)
	spec := &created.Spec.Template.Spec
	container := &spec.Runtime.Sandbox.Containers[0]
	if container.Image != "example.com/app:1" || container.Args[0] != "--verbose" || container.Ports[0].Port != 80 ||
		spec.NetworkInterfaces[0].Network.Name != "default" || len(created.Spec.Placements[0].CityCodes) != 2 {
		t.Errorf("it is %+v", created.Spec)
	}
	f.want(f.kubectl(f.Config(), args...), 1, "already exists")
	f.want(f.kubectl(f.Config(), "run", "second", "--image", "a"), 1, "--city")
	f.want(f.kubectl(f.Config(), "run", "second", "--image", "a", "--city", "DFW", "-o", "guess"), 1, "guess")
}

// TestTreeOfNoName lists what trees there are.
func TestTreeOfNoName(t *testing.T) {
	f := newFixture(t)
	f.scene()
	listed := f.kubectl(f.Config(), "tree")
	f.want(listed, 0, "NAME", "CITIES", "web")
	f.want(f.kubectl(f.Config(), "tree", "-o", "json"), 0, `"kind": "WorkloadOverviewList"`)
	f.want(f.kubectl(f.Config(), "tree", "a", "b"), 1, "at most 1")
}
