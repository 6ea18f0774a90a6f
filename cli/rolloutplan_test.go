// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

var update = flag.Bool("update", false, "write what the commands print to the golden files")

// golden compares a text with a golden file.
func (f *fixture) golden(name, got string) {
	f.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	if got != string(want) {
		f.Errorf("the output differs from %s (go test ./cli -run %s -update writes it):\n%s", path, f.Name(), got)
	}
}

// location lets the project use a city.
func (f *fixture) location(city string) {
	f.Helper()
	binding := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"locationRef": map[string]any{"name": city},
			"topology":    map[string]any{v1alpha.LabelTopologyCity: city},
		},
	}}
	binding.SetGroupVersionKind(view.LocationBindings)
	binding.SetName("plan-" + strings.ToLower(city))
	f.create(binding)
	f.Cleanup(func() { _ = f.Client.Delete(f.Context(), binding) })
	binding.Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Available", "status": "True", "reason": "Available", "message": "", "lastTransitionTime": "2026-05-01T12:00:00Z",
	}}}
	f.update(binding)
}

// readsLocations lets a user read the LocationBindings.
func (f *fixture) readsLocations(user *rest.Config) {
	f.Helper()
	name := user.Impersonate.UserName
	group := []string{view.LocationBindings.Group}
	f.create(&rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
			{APIGroups: group, Resources: []string{"locationbindings"}, Verbs: read},
		},
	})
	f.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
	})
}

// TestRolloutPlan: in one city an Instance has the new template and is Available, a second city is in the queue, a
// third one is new, and a fourth one is not chosen any more.
func TestRolloutPlan(t *testing.T) {
	f := newFixture(t)
	for _, city := range []string{"DFW", "ORD", "NYC"} {
		f.location(city)
	}
	w := f.workload(placement("main", 2, "DFW", "ORD", "NYC"))
	dfw, ord := f.deployment(w, "main", "DFW", 2), f.deployment(w, "main", "ORD", 2)
	f.deployment(w, "main", "IAD", 2)
	old := *w.Spec.Template.DeepCopy()
	w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "nginx:2"
	f.change(w)
	dfw.Spec.Template = w.Spec.Template
	dfw.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: 1, Template: old}
	f.change(dfw)
	f.reports(dfw, w.Spec.Template, "1")
	f.reports(ord, old, "0-1")

	consumer := f.user(may(read, "workloads", "workloaddeployments", "instances"))
	f.readsLocations(consumer)
	text := f.kubectl(consumer, "rollout", "plan", "web")
	f.want(text, 0)
	f.golden("rolloutplan.txt", text.out)
	encoded := f.kubectl(consumer, "rollout", "plan", "web", "-o", "yaml")
	f.want(encoded, 0, "kind: RolloutPlan")
	f.golden("rolloutplan.yaml", encoded.out)
	f.want(f.kubectl(consumer, "rollout", "plan", "web", "-o", "words"), 1, "unable to match a printer")

	// A paused rollout has no steps in any city.
	w.Spec.Rollout = &v1alpha.WorkloadRollout{Paused: true}
	f.change(w)
	f.golden("rolloutplan-paused.txt", f.kubectl(consumer, "rollout", "plan", "web").out)

	// Objects that a user may not read are unknown.
	least := f.user(may(read, "workloads", "workloaddeployments"))
	f.want(f.kubectl(least, "rollout", "plan", "web"), 0, "DFW", "IAD", "unknown: the locations of the project",
		"unknown: whether additional Instances")
	f.want(f.kubectl(f.user(may(read, "workloads")), "rollout", "plan", "web"), 1, "a plan needs the WorkloadDeployments")
	f.want(f.kubectl(consumer, "rollout", "plan", "another"), 1, `"another" not found`)
	f.want(f.kubectl(f.Config(), "__complete", "rollout", "plan", ""), 0, "web\n:4")
}

// TestRolloutPlanOfBudget: the budget has no slack, and the Instance that is not Available is in another city.
func TestRolloutPlanOfBudget(t *testing.T) {
	f := newFixture(t)
	w := f.workload(placement("main", 2, "DFW", "ORD"))
	dfw, ord := f.deployment(w, "main", "DFW", 2), f.deployment(w, "main", "ORD", 2)
	old := *w.Spec.Template.DeepCopy()
	w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "nginx:2"
	w.Spec.Disruption = &v1alpha.WorkloadDisruption{MinAvailable: new(intstr.FromInt32(3))}
	f.change(w)
	f.reports(dfw, old, "0-1")
	f.reports(ord, old, "0-1")
	ord.Status.Indices[0].AvailableIndices = "0"
	for d, available := range map[*v1alpha.WorkloadDeployment]int32{dfw: 2, ord: 1} {
		d.Status.AvailableReplicas, d.Status.FloorAvailable = available, available
		f.update(d)
	}
	f.golden("rolloutplan-budget.txt", strings.Split(f.kubectl(f.Config(), "rollout", "plan", "web").out, "\n\nunknown:")[0]+"\n")
}

// change writes an object without its status.
func (f *fixture) change(object client.Object) {
	f.Helper()
	if err := f.Client.Update(f.Context(), object); err != nil {
		f.Fatal(err)
	}
}

// reports writes what the cell of a deployment reports: two Instances that are Available, of which some have a
// template.
func (f *fixture) reports(d *v1alpha.WorkloadDeployment, template v1alpha.InstanceTemplateSpec, current string) {
	f.Helper()
	hash, err := templates.Hash(&template)
	if err != nil {
		f.Fatal(err)
	}
	d.Status.ObservedGeneration, d.Status.AssignedReplicas = d.Generation, 2
	d.Status.Indices = []v1alpha.CellIndices{{
		Cell: strings.ToLower(d.Spec.CityCode) + "-1", Existing: "0-1", AvailableIndices: "0-1", TemplateHash: hash, Current: current,
	}}
	f.update(d)
}
