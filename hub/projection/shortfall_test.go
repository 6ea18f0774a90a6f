// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestAdditionalInstances: desiredReplicas does not count the additional Instances of a rollout.
func TestAdditionalInstances(t *testing.T) {
	s := newScope()
	s.Reconciler = New(Options{Clock: testingclock.NewFakePassiveClock(time.Unix(1000, 0))})
	s.deployment.Spec.ScaleSettings.MinReplicas, s.deployment.Spec.Surge = 1, 1
	s.copied.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue}}
	s.copied.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: 2, ReadyReplicas: 2, DesiredReplicas: 2}
	if got := s.desiredStatus(true, ""); got.DesiredReplicas != 1 || got.ReadyReplicas != 2 || got.Replicas != 2 || got.AssignedReplicas != 2 {
		t.Errorf("counts are %+v, %d are assigned", got.ReplicaCounts, got.AssignedReplicas)
	}
}

// TestShortfall: a deployment whose cells run all their Instances still reports Instances that no cell was assigned.
func TestShortfall(t *testing.T) {
	reported := []metav1.Condition{
		{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue},
		{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse},
		{Type: v1alpha.ConditionReplicasReady, Status: metav1.ConditionTrue},
	}
	for name, c := range map[string]struct {
		assigned []int
		// least is how many of these always run; nil without autoscaling.
		least   *int32
		refusal string
		want    string
	}{
		"all is assigned":             {assigned: []int{0, 1, 3}},
		"not yet divided":             {assigned: []int{0}, want: "2 Instances are not assigned"},
		"only an autoscaler has room": {assigned: []int{0, 1, 2, 3}, least: new(int32(2)), want: "1 Instance is not assigned"},
		"no room":                     {assigned: []int{0}, refusal: "0/2 clusters.", want: "not have enough capacity: 0/2 clusters; ask"},
		"a cordoned cell": {
			assigned: []int{0}, refusal: "0/1 clusters: 1 cluster(s) had untolerated taint {unschedulable: }.",
			want: "take no new Instances: 0/1 clusters: 1 cluster(s) had untolerated taint {unschedulable: }; an operator",
		},
		"a cell that Karmada evicts from": {
			assigned: []int{0}, refusal: "0/2 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint, 1 " +
				"cluster(s) is in the process of eviction.",
			want: "take no new Instances: 0/2 clusters are available",
		},
		"a refusal that is no loss": {assigned: []int{0, 1, 2}, refusal: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			clock := testingclock.NewFakePassiveClock(time.Unix(1000, 0))
			s := newScope()
			s.Reconciler = New(Options{Clock: clock})
			s.deployment.Spec.ScaleSettings.MinReplicas = 3
			s.copied.Status.Conditions = reported
			s.copied.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{
				Cells: []v1alpha.CellAssignment{{Name: "a", Indices: naming.Ranges(c.assigned), MinReplicas: c.least}},
			}
			got := s.desiredStatus(true, c.refusal)
			ready := meta.FindStatusCondition(got.Conditions, v1alpha.ConditionReplicasReady)
			if (ready.Status == metav1.ConditionFalse) != (c.want != "") || !strings.Contains(ready.Message, c.want) {
				t.Errorf("ReplicasReady is %+v", ready)
			}
			if c.want != "" && (got.DesiredReplicas != 3 || !meta.IsStatusConditionTrue(got.Conditions, v1alpha.ConditionProgressing)) {
				t.Errorf("desired are %d, conditions %+v", got.DesiredReplicas, got.Conditions)
			}
			s.deployment.Status = got
			clock.SetTime(time.Unix(2000, 0))
			if again := s.desiredStatus(true, c.refusal); !equality.Semantic.DeepEqual(got, again) {
				t.Errorf("it would be written again: %+v, then %+v", got, again)
			}
		})
	}
}
