// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func condition(conditionType, status, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionStatus(status), Reason: reason, Message: message}
}

func workload(ready, desired int32, conditions ...metav1.Condition) *v1alpha.Workload {
	result := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	result.Spec.Placements = []v1alpha.WorkloadPlacement{{
		Name: "main", CityCodes: []string{"DFW"}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: desired},
	}}
	result.Status.ReplicaCounts = v1alpha.ReplicaCounts{ReadyReplicas: ready, DesiredReplicas: desired}
	result.Status.Conditions = conditions
	return result
}

func deployment(city string, ready, desired int32, conditions ...metav1.Condition) v1alpha.WorkloadDeployment {
	name := naming.DeploymentName("web", "main", city)
	result := v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	result.Spec.CityCode = city
	result.Status.ReplicaCounts = v1alpha.ReplicaCounts{ReadyReplicas: ready, DesiredReplicas: desired}
	result.Status.Conditions = conditions
	return result
}

func instance(city string, index int, conditions ...metav1.Condition) v1alpha.Instance {
	owner := naming.DeploymentName("web", "main", city)
	result := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{
		Name:            naming.InstanceName(owner, index),
		OwnerReferences: []metav1.OwnerReference{{UID: types.UID(owner), Controller: new(true)}},
	}}
	result.Status.Conditions = conditions
	return result
}

func restarted(i v1alpha.Instance, times int32) v1alpha.Instance {
	i.Status.Restarts = times
	return i
}

func rolling(w *v1alpha.Workload, revision int64, hash string) *v1alpha.Workload {
	w.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Revision: revision, TemplateHash: hash}
	return w
}

func withTemplate(i v1alpha.Instance, hash string) v1alpha.Instance {
	i.Spec.Controller = &v1alpha.InstanceController{TemplateHash: hash}
	return i
}

func withAddress(i v1alpha.Instance, address string) v1alpha.Instance {
	i.Status.NetworkInterfaces = []v1alpha.InstanceNetworkInterfaceStatus{
		{}, {Assignments: v1alpha.InstanceNetworkAssignments{NetworkIP: &address}},
	}
	return i
}

func deleting(i v1alpha.Instance) v1alpha.Instance {
	i.DeletionTimestamp = &metav1.Time{}
	return i
}

var (
	isReady    = condition(v1alpha.ConditionReady, "True", v1alpha.ReasonAvailable, "")
	isStarting = condition(v1alpha.ConditionReady, "False", v1alpha.ReasonProvisioning, "the image is pulled\nand more")
)

func TestTreeLines(t *testing.T) {
	cases := map[string]struct {
		tree Snapshot
		want []string
	}{
		"just created": {
			tree: Snapshot{Workload: workload(0, 0)},
			want: []string{"Workload web  0/0 Ready"},
		},
		"a city without a location": {
			tree: Snapshot{Workload: workload(0, 1, condition(v1alpha.ConditionAvailable, "False", "NoAvailablePlacements", "no LocationBinding"))},
			want: []string{"Workload web  0/1 Ready  NoAvailablePlacements  no LocationBinding"},
		},
		"in between": {
			tree: Snapshot{
				Workload: workload(1, 3, condition(v1alpha.ConditionAvailable, "True", "AvailablePlacementFound", "not shown")),
				Deployments: []v1alpha.WorkloadDeployment{
					deployment("ORD", 0, 1), deployment("DFW", 1, 2, condition(v1alpha.ConditionAvailable, "True", "StableInstanceFound", "")),
				},
				Instances: []v1alpha.Instance{
					instance("DFW", 1, isStarting), restarted(withAddress(instance("DFW", 0, isReady), "10.0.0.1"), 3), instance("ORD", 0),
				},
			},
			want: []string{
				"Workload web          1/3 Ready  AvailablePlacementFound",
				"├─ DFW  web-main-dfw  1/2 Ready  StableInstanceFound",
				"│  ├─ web-main-dfw-0  Ready      Available                10.0.0.1  (restarts: 3)",
				"│  └─ web-main-dfw-1  not Ready  Provisioning             the image is pulled",
				"└─ ORD  web-main-ord  0/1 Ready",
				"   └─ web-main-ord-0  waiting",
			},
		},
		"two templates": {
			tree: Snapshot{
				Workload:    rolling(workload(3, 2), 2, "newhash"),
				Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 2, 1), deployment("ORD", 1, 1)},
				Instances: []v1alpha.Instance{
					withTemplate(withAddress(instance("DFW", 0, isReady), "10.0.0.1"), "oldhash"),
					withTemplate(restarted(instance("DFW", 1, isStarting), 3), "newhash"), withTemplate(instance("ORD", 0, isReady), "oldhash"),
				},
			},
			want: []string{
				"Workload web          3/2 Ready",
				"├─ DFW  web-main-dfw  2/1 Ready",
				"│  ├─ web-main-dfw-0  Ready      Available     10.0.0.1  (earlier template)",
				"│  └─ web-main-dfw-1  not Ready  Provisioning  the image is pulled  (revision 2)  (restarts: 3)",
				"└─ ORD  web-main-ord  1/1 Ready",
				"   └─ web-main-ord-0  Ready      Available     (earlier template)",
			},
		},
		"one template": {
			tree: Snapshot{
				Workload: rolling(workload(1, 1), 2, "newhash"), Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 1, 1)},
				Instances: []v1alpha.Instance{withTemplate(instance("DFW", 0, isReady), "newhash")},
			},
			want: []string{
				"Workload web          1/1 Ready",
				"└─ DFW  web-main-dfw  1/1 Ready",
				"   └─ web-main-dfw-0  Ready      Available",
			},
		},
		"Instances are sorted by index": {
			tree: Snapshot{
				Workload: workload(0, 0), Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 0, 0)},
				Instances: []v1alpha.Instance{
					instance("DFW", 10), instance("DFW", 9),
				},
			},
			want: []string{
				"Workload web           0/0 Ready",
				"└─ DFW  web-main-dfw   0/0 Ready",
				"   ├─ web-main-dfw-9   waiting",
				"   └─ web-main-dfw-10  waiting",
			},
		},
		"an Instance without a deployment comes last": {
			tree: Snapshot{
				Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 0, 0)},
				Instances:   []v1alpha.Instance{deleting(instance("ORD", 0, isReady)), instance("DFW", 0, isReady)},
			},
			want: []string{
				"Workload web          gone",
				"├─ DFW  web-main-dfw  0/0 Ready",
				"│  └─ web-main-dfw-0  Ready      Available",
				"└─ web-main-ord-0     deleting   Available",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := lines(&c.tree, Layout{}); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// lines returns the lines of the tree of web.
func lines(s *Snapshot, l Layout) []string {
	s.Name = "web"
	s.sort()
	return s.Tree().Lines(l)
}

// TestEqual: a change that a tree or a row does not show leaves it equal, with all that decides about its lines.
func TestEqual(t *testing.T) {
	row := func(reason string) *Overview {
		return &Overview{Name: "web", Finding: &Finding{Reason: reason, rank: 2}}
	}
	if !row("a").Equals(row("a")) || row("a").Equals(row("b")) || row("a").Equals(nil) {
		t.Error("equal rows differ, or other ones do not")
	}
	tree := func(restarts int32) *Node {
		return &Node{Kind: v1alpha.KindInstance, Name: "web-0", showsData: true, warnings: []*Finding{{Reason: "Slow"}}, Restarts: restarts}
	}
	if !tree(1).Equals(tree(1)) || tree(1).Equals(tree(2)) || tree(1).Equals(nil) {
		t.Error("equal trees differ, or other ones do not")
	}
}
