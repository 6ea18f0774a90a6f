// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

func TestSettled(t *testing.T) {
	state := func(counted int32, ready ...metav1.ConditionStatus) *view.Snapshot {
		workload := &v1alpha.Workload{}
		workload.Spec.Placements = []v1alpha.WorkloadPlacement{{
			Name: "main", CityCodes: []string{"DFW"}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 2},
		}}
		workload.Status.ReadyReplicas = counted
		s := &view.Snapshot{Workload: workload}
		for _, status := range ready {
			instance := v1alpha.Instance{}
			instance.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionReady, Status: status}}
			s.Instances = append(s.Instances, instance)
		}
		return s
	}
	gone := state(2, "True", "True")
	gone.Workload = nil
	unseen := state(2, "True", "True")
	unseen.Workload.Generation = 2
	cases := map[string]struct {
		state *view.Snapshot
		want  bool
	}{
		"gone":                               {state: gone},
		"all Ready":                          {state: state(2, "True", "True"), want: true},
		"one is not Ready":                   {state: state(2, "True", "False")},
		"one is missing":                     {state: state(2, "True")},
		"one is too many":                    {state: state(2, "True", "True", "True")},
		"the Workload's sum is old":          {state: state(1, "True", "True")},
		"the newest generation was not seen": {state: unseen},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := settled(c.state); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}

func TestNotReached(t *testing.T) {
	held := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: "web-main-dfw-0"}}
	held.Status.Conditions = []metav1.Condition{
		{Type: v1alpha.ConditionReady, Status: "False", Reason: v1alpha.ReasonImageUnavailable, Message: "no such image"},
	}
	deployment := v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web-main-dfw", UID: "uid"}}
	held.OwnerReferences = []metav1.OwnerReference{deployment.ControllerReference()}
	err := notReached("it is Ready", &view.Snapshot{
		Name: "web", Workload: &v1alpha.Workload{}, Deployments: []v1alpha.WorkloadDeployment{deployment}, Instances: []v1alpha.Instance{held},
	})
	for _, want := range []string{
		"waiting until it is Ready; 0 of 1 Instances", "Instance web-main-dfw-0 (project): ImageUnavailable", "no such image",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
}

func TestSampleWorkload(t *testing.T) {
	object, err := sample{}.workload()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, placement := range object.Spec.Placements {
		got = append(got, fmt.Sprintf("%s %s %d", placement.Name, placement.CityCodes, placement.ScaleSettings.MinReplicas))
	}
	if want := []string{"texas [DFW] 3", "illinois [ORD] 2"}; !slices.Equal(got, want) {
		t.Errorf("placements are %q, want %q", got, want)
	}
	scale(object)
	if got := wanted(object); got != 7 {
		t.Errorf("%d Instances when scaled, want 7", got)
	}
}
