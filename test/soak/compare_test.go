// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func compared(t *testing.T, v *settledView) []string {
	t.Helper()
	found, err := Compare(v.View, v.wanted)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range found {
		lines = append(lines, d.String())
	}
	return lines
}

func TestNothingDisagrees(t *testing.T) {
	if found := compared(t, settled(t)); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

// TestIndicesOfTheHub: in a city with several cells, the Instances that stay after a scale-down need not be the first.
func TestIndicesOfTheHub(t *testing.T) {
	for name, test := range map[string]struct {
		indices []int
		want    bool
	}{
		"the first": {[]int{0, 1}, true},
		"others":    {[]int{1, 4}, false},
		"too few":   {[]int{0}, false},
	} {
		v := settled(t)
		v.Copies[0].Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{
			Cells: []v1alpha.CellAssignment{{Name: "dfw", Indices: naming.Ranges(test.indices)}},
		}
		found, err := Compare(v.View, v.wanted)
		if err != nil {
			t.Fatal(err)
		}
		if (len(found) == 0) != test.want {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestNothingIsLeft(t *testing.T) {
	v := settled(t)
	v.wanted = nil
	empty := &View{Project: v.Project, Cities: v.Cities, Cells: map[string]*CellView{"dfw": {}}}
	if found, err := Compare(empty, nil); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
	v.Workloads = nil
	wanted := []string{
		"project/east: WorkloadDeployment web-p0-dfw should not exist", "project/east: Instance web-p0-ord-1 should not exist",
		"hub: Namespace ns-1 should not exist", "hub: WorkloadDeployment web-p0-dfw should not exist",
		"hub: PropagationPolicy city-ord should not exist",
		"hub: ResourceBinding web-p0-ord-workloaddeployment should not exist",
		"hub: Work of WorkloadDeployment web-p0-dfw for cell dfw should not exist", "hub: Work of Namespace ns-1 for cell ord-2 should not exist",
		"cell/dfw: Namespace ns-1 should not exist", "cell/ord-1: WorkloadDeployment web-p0-ord should not exist",
		"cell/ord-1: Instance web-p0-ord-1 should not exist",
	}
	found := compared(t, v)
	for _, want := range wanted {
		if !slices.Contains(found, want) {
			t.Errorf("%q was not found among %q", want, found)
		}
	}
}

// TestDisagreements: each change of one object gives a disagreement of that object.
func TestDisagreements(t *testing.T) {
	now := metav1.Now()
	first := func(v *settledView) *CellView { return v.Cells["dfw"] }
	tests := map[string]struct {
		change func(v *settledView)
		want   string
	}{
		"a Workload was not created": {func(v *settledView) { v.wanted["api"] = v.wanted["web"] }, "project/east: Workload api does not exist"},
		"a Workload is not gone": {
			func(v *settledView) { v.wanted["web"], v.Workloads[0].DeletionTimestamp = nil, &now },
			"project/east: Workload web is being deleted, and is still there",
		},
		"a Workload goes": {
			func(v *settledView) { v.Workloads[0].DeletionTimestamp = &now }, "project/east: Workload web is being deleted, and should exist",
		},
		"a scale was lost": {
			func(v *settledView) { v.wanted["web"].Placements[0].Replicas = 3 }, "project/east: Workload web is not what its consumer wants",
		},
		"a rollout was lost": {
			func(v *settledView) { v.wanted["web"].Image = "image:2" }, "project/east: Workload web is not what its consumer wants",
		},
		"a Workload counts less": {
			func(v *settledView) { v.Workloads[0].Status.ReadyReplicas = 3 },
			"project/east: Workload web does not count all of its Instances as Ready and up to date",
		},
		"a Workload counts old": {
			func(v *settledView) { v.Workloads[0].Status.ObservedGeneration = 2 },
			"project/east: Workload web has a status of an earlier generation",
		},
		"a Workload is unavailable": {
			func(v *settledView) { v.Workloads[0].Status.Conditions = nil }, "project/east: Workload web is not Available",
		},

		"a deployment is missing": {
			func(v *settledView) { v.Deployments = v.Deployments[1:] }, "project/east: WorkloadDeployment web-p0-dfw does not exist",
		},
		"a deployment goes": {
			func(v *settledView) { v.Deployments[0].DeletionTimestamp = &now },
			"project/east: WorkloadDeployment web-p0-dfw is being deleted, and should exist",
		},
		"a deployment of another": {
			func(v *settledView) { v.Deployments[0].Spec.WorkloadRef.UID = "old" },
			"project/east: WorkloadDeployment web-p0-dfw belongs to another Workload",
		},
		"a deployment too many": {
			func(v *settledView) { v.Deployments = append(v.Deployments, named("web-p9-dfw")) },
			"project/east: WorkloadDeployment web-p9-dfw should not exist",
		},
		"a scale does not arrive": {
			func(v *settledView) { v.Deployments[0].Spec.ScaleSettings.MinReplicas = 1 },
			"project/east: WorkloadDeployment web-p0-dfw has another scale than its Workload",
		},
		"a rollout does not arrive": {
			func(v *settledView) { setImage(&v.Deployments[0], "image:0") },
			"project/east: WorkloadDeployment web-p0-dfw has another template than its Workload",
		},
		"a status is old": {
			func(v *settledView) { v.Deployments[0].Status.ObservedGeneration = 4 },
			"project/east: WorkloadDeployment web-p0-dfw has a status of an earlier generation",
		},
		"a status says so": {
			func(v *settledView) { v.Deployments[0].Status.Conditions[0].Status = metav1.ConditionFalse },
			"project/east: WorkloadDeployment web-p0-dfw says that its status is not current (Test: )",
		},

		"an Instance is not shown": {
			func(v *settledView) { v.Instances = v.Instances[1:] }, "project/east: Instance web-p0-dfw-0 does not exist",
		},
		"an Instance too many is shown": {
			func(v *settledView) {
				v.Instances = append(v.Instances, v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: "web-p0-dfw-2"}})
			},
			"project/east: Instance web-p0-dfw-2 should not exist",
		},
		"an Instance is shown as not Ready": {
			func(v *settledView) { v.Instances[0].Status.Conditions[0].Status = metav1.ConditionUnknown },
			"project/east: Instance web-p0-dfw-0 is not Ready (Unknown, Test: )",
		},
		"an Instance is shown of another deployment": {
			func(v *settledView) { v.Instances[0].OwnerReferences = owner("old") },
			"project/east: Instance web-p0-dfw-0 is owned by another deployment",
		},
		"an old Instance is shown": {
			func(v *settledView) { v.Instances[0].Status.Controller = nil },
			"project/east: Instance web-p0-dfw-0 runs another template than its Workload's",
		},

		"no hub namespace": {func(v *settledView) { v.Namespace = nil }, "hub: Namespace does not exist"},
		"the hub namespace goes": {
			func(v *settledView) { v.Namespace.DeletionTimestamp = &now }, "hub: Namespace ns-1 is being deleted, and should exist",
		},
		"no copy": {func(v *settledView) { v.Copies = v.Copies[1:] }, "hub: WorkloadDeployment web-p0-dfw does not exist"},
		"the copy of an earlier one": {
			func(v *settledView) { v.Copies[0].Labels[v1alpha.LabelDeploymentUID] = "old" },
			"hub: WorkloadDeployment web-p0-dfw is the copy of another deployment",
		},
		"the copy of an earlier spec": {
			func(v *settledView) { v.Copies[0].Annotations[v1alpha.AnnotationProjectGeneration] = "4" },
			"hub: WorkloadDeployment web-p0-dfw is the copy of an earlier generation",
		},
		"a copy without original": {
			func(v *settledView) { v.Copies = append(v.Copies, named("web-p9-dfw")) }, "hub: WorkloadDeployment web-p9-dfw should not exist",
		},
		"no policy": {func(v *settledView) { v.Policies = v.Policies[1:] }, "hub: PropagationPolicy of dfw does not exist"},
		"a policy goes": {
			func(v *settledView) { v.Policies[0].DeletionTimestamp = &now }, "hub: PropagationPolicy city-dfw is being deleted, and should exist",
		},
		"no binding": {
			func(v *settledView) { v.Bindings = v.Bindings[1:] }, "hub: ResourceBinding web-p0-dfw-workloaddeployment does not exist",
		},
		"a binding of a dead owner": {
			func(v *settledView) { v.Bindings[0].OwnerReferences = owner("dead") },
			"hub: ResourceBinding web-p0-dfw-workloaddeployment belongs to an earlier copy of its name",
		},
		"a binding of a dead object": {
			func(v *settledView) { v.Bindings[0].Spec.Resource.UID = "dead" },
			"hub: ResourceBinding web-p0-dfw-workloaddeployment belongs to an earlier copy of its name",
		},
		"a binding without a cell": {
			func(v *settledView) { v.Bindings[0].Spec.Clusters = nil }, "hub: ResourceBinding web-p0-dfw-workloaddeployment names no cell",
		},
		"a binding with a wrong cell": {
			func(v *settledView) { v.Bindings[0].Spec.Clusters[0].Name = "ord-1" },
			"hub: ResourceBinding web-p0-dfw-workloaddeployment names cell ord-1, which does not serve the city",
		},
		"a binding with an old scale": {
			func(v *settledView) { v.Bindings[0].Spec.Clusters[0].Replicas = 1 },
			"hub: ResourceBinding web-p0-dfw-workloaddeployment has another scale than its Workload",
		},

		"no Work": {
			func(v *settledView) { v.Works["dfw"] = v.Works["dfw"][:1] }, "hub: Work of WorkloadDeployment web-p0-dfw for cell dfw does not exist",
		},
		"no Work of namespaces": {
			func(v *settledView) { v.Works["dfw"] = v.Works["dfw"][1:] }, "hub: Work of Namespace ns-1 for cell dfw does not exist",
		},
		"a Work goes": {
			func(v *settledView) { v.work("dfw", "WorkloadDeployment web-p0-dfw").DeletionTimestamp = &now },
			"hub: Work of WorkloadDeployment web-p0-dfw for cell dfw is being deleted, and should exist",
		},
		"a Work is not applied": {
			func(v *settledView) { v.work("dfw", "Namespace ns-1").Status.Conditions = nil },
			"hub: Work of Namespace ns-1 for cell dfw is not Applied",
		},
		"an old Work": {func(v *settledView) {
			v.work("dfw", "WorkloadDeployment web-p0-dfw").Deployment.Annotations[v1alpha.AnnotationProjectGeneration] = "4"
		}, "hub: Work of WorkloadDeployment web-p0-dfw for cell dfw carries an earlier generation"},
		"a Work too many": {func(v *settledView) {
			v.Works["ord-1"] = append(v.Works["ord-1"], *v.work("dfw", "WorkloadDeployment web-p0-dfw"))
		}, "hub: Work of WorkloadDeployment web-p0-dfw for cell ord-1 should not exist"},

		"no namespace in a cell": {func(v *settledView) { first(v).Namespace = nil }, "cell/dfw: Namespace does not exist"},
		"no deployment in a cell": {
			func(v *settledView) { first(v).Deployments = nil }, "cell/dfw: WorkloadDeployment web-p0-dfw does not exist",
		},
		"an earlier one in a cell": {
			func(v *settledView) { first(v).Deployments[0].Labels[v1alpha.LabelDeploymentUID] = "old" },
			"cell/dfw: WorkloadDeployment web-p0-dfw is the copy of another deployment",
		},
		"an old spec in a cell": {
			func(v *settledView) { first(v).Deployments[0].Annotations[v1alpha.AnnotationProjectGeneration] = "4" },
			"cell/dfw: WorkloadDeployment web-p0-dfw is the copy of an earlier generation",
		},
		"a cell that reports late": {
			func(v *settledView) { first(v).Deployments[0].Status.ObservedGeneration = 1 },
			"cell/dfw: WorkloadDeployment web-p0-dfw has a status of an earlier generation",
		},
		"an orphan in a cell": {
			func(v *settledView) { first(v).Deployments = append(first(v).Deployments, named("old")) },
			"cell/dfw: WorkloadDeployment old should not exist",
		},
		"a missing Instance": {
			func(v *settledView) { first(v).Instances = first(v).Instances[1:] }, "cells of DFW: Instance web-p0-dfw-0 does not exist",
		},
		"an Instance that goes": {
			func(v *settledView) { first(v).Instances[0].DeletionTimestamp = &now },
			"cell/dfw: Instance web-p0-dfw-0 is being deleted, and should exist",
		},
		"an Instance without owner": {
			func(v *settledView) { first(v).Instances[0].OwnerReferences = owner("dead") },
			"cell/dfw: Instance web-p0-dfw-0 is owned by another deployment",
		},
		"an Instance twice": {func(v *settledView) {
			v.Cells["ord-1"].Instances = append(v.Cells["ord-1"].Instances, v.Cells["ord-2"].Instances...)
		}, "cell/ord-2: Instance web-p0-ord-0 runs in cell ord-1 as well"},
		"no Pod": {func(v *settledView) { first(v).Pods = first(v).Pods[1:] }, "cell/dfw: Pod web-p0-dfw-0 does not exist"},
		"a Pod of another Instance": {
			func(v *settledView) { first(v).Pods[0].OwnerReferences = owner("dead") },
			"cell/dfw: Pod web-p0-dfw-0 belongs to an earlier Instance of its name",
		},
		"a Pod that is not Ready": {func(v *settledView) { first(v).Pods[0].Status.Conditions = nil }, "cell/dfw: Pod web-p0-dfw-0 is not Ready"},
		"a Pod without Instance": {
			func(v *settledView) { v.Cells["ord-1"].Pods = append(v.Cells["ord-1"].Pods, first(v).Pods[0]) },
			"cell/ord-1: Pod web-p0-dfw-0 should not exist",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := settled(t)
			test.change(v)
			if found := compared(t, v); !slices.Contains(found, test.want) {
				t.Errorf("found %s", strings.Join(found, "\n"))
			}
		})
	}
}

func named(name string) v1alpha.WorkloadDeployment {
	return v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func setImage(d *v1alpha.WorkloadDeployment, image string) {
	d.Spec.Template = *d.Spec.Template.DeepCopy()
	d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = image
}
