// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// TestRolloutCounts: a plan has the updated Instances of each city, and the budget over all.
func TestRolloutCounts(t *testing.T) {
	s := &Snapshot{Name: "web", Workload: workload(2, 3), Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 2, 3)}}
	minimum := intstr.FromInt32(2)
	s.Workload.Spec.Disruption = &v1alpha.WorkloadDisruption{MinAvailable: &minimum}
	s.Deployments[0].Spec.PlacementName = "main"
	s.Deployments[0].Status.AvailableReplicas, s.Deployments[0].Status.FloorAvailable = 2, 2
	newest, err := templates.VersionOf(&s.Workload.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	for index, hash := range []string{newest.Hash, "earlier", "earlier"} {
		i := instance("DFW", index, isReady)
		i.Spec.Controller = &v1alpha.InstanceController{TemplateHash: hash}
		s.Instances = append(s.Instances, i)
	}
	plan, err := s.Rollout(nil, ErrLocationsUnread)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Cities) != 1 || plan.Cities[0].Updated != 1 || plan.Cities[0].Instances != 3 {
		t.Errorf("the cities are %+v", plan.Cities)
	}
	if plan.Budget == nil || plan.Budget.MinAvailable != 2 || plan.Budget.Available != 2 {
		t.Errorf("the budget is %+v", plan.Budget)
	}
	s.Workload.Spec.Disruption = nil
	if plan, err = s.Rollout(nil, ErrLocationsUnread); err != nil || plan.Budget != nil {
		t.Errorf("got %+v, %v", plan, err)
	}
}

// TestTimesOfARollout: a plan has when each city got the template, and the change in words. An Instance that still runs
// with the template before has no time.
func TestTimesOfARollout(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.NewTime(time.Unix(int64(60*minute), 0)) }
	s := &Snapshot{Name: "web", Workload: workload(2, 4)}
	s.Workload.Spec.Template.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{
		Containers: []v1alpha.SandboxContainer{{Name: "app", Image: "nginx:1.28"}},
	}
	newest, err := templates.VersionOf(&s.Workload.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	for i, image := range []string{"nginx:1.26", "nginx:1.27", "nginx:1.28"} {
		revision := v1alpha.WorkloadRevision{ObjectMeta: metav1.ObjectMeta{Name: image, CreationTimestamp: at(i)}}
		revision.Spec.Revision, revision.Spec.Template = int64(i+1), *s.Workload.Spec.Template.DeepCopy()
		revision.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = image
		s.history = append(s.history, revision)
	}
	s.history[2].Name = naming.Revision("web", newest.Hash)

	started := func(city string, index, began, ready int, hash string) {
		i := instance(city, index, isReady)
		i.Status.Conditions[0].LastTransitionTime = at(ready)
		i.Spec.Controller = &v1alpha.InstanceController{TemplateHash: newest.Hash}
		i.Status.Controller, i.Status.StartTime = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: hash}, new(at(began))
		s.Instances = append(s.Instances, i)
	}
	s.Deployments = []v1alpha.WorkloadDeployment{deployment("DFW", 2, 2), deployment("ORD", 2, 2), deployment("SIN", 2, 2)}
	for i := range s.Deployments {
		s.Deployments[i].Spec.PlacementName = "main"
	}
	started("DFW", 0, 5, 7, newest.Hash)
	started("DFW", 1, 4, 6, newest.Hash)
	started("ORD", 0, 8, 9, newest.Hash)
	started("ORD", 1, 1, 2, "earlier")
	plan, err := s.Rollout(nil, ErrLocationsUnread)
	if err != nil {
		t.Fatal(err)
	}
	want := Change{Revision: 3, Created: at(2), Cause: "image of app: nginx:1.27 -> nginx:1.28"}
	if plan.Change == nil || *plan.Change != want {
		t.Errorf("the change is %+v, want %+v", plan.Change, want)
	}
	for i, want := range [][2]metav1.Time{{at(4), at(7)}, {at(8)}, {}} {
		if got := [2]metav1.Time{ptr.Deref(plan.Cities[i].Began, metav1.Time{}), ptr.Deref(plan.Cities[i].Ended, metav1.Time{})}; got != want {
			t.Errorf("%s: from %v to %v, want %v", plan.Cities[i].City, got[0], got[1], want)
		}
	}
}
