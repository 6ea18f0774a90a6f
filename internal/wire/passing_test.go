// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestPassing(t *testing.T) {
	progressing := func(status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha.ConditionProgressing, Status: status}}
	}
	observed := func(status metav1.ConditionStatus, generation int64) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha.ConditionProgressing, Status: status, ObservedGeneration: generation}}
	}
	suspended := func(status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha.ConditionSuspended, Status: status}}
	}
	counts := func(replicas, ready int32) v1alpha.WorkloadDeploymentStatus {
		return v1alpha.WorkloadDeploymentStatus{ReplicaCounts: v1alpha.ReplicaCounts{Replicas: replicas, ReadyReplicas: ready}}
	}
	with := func(conditions []metav1.Condition) v1alpha.WorkloadDeploymentStatus {
		return v1alpha.WorkloadDeploymentStatus{Conditions: conditions}
	}
	tests := map[string]struct {
		existing, wanted v1alpha.WorkloadDeploymentStatus
		want             bool
	}{
		"an Instance is made":            {existing: counts(1, 1), wanted: counts(2, 1), want: true},
		"an Instance is gone":            {existing: counts(2, 1), wanted: counts(1, 1)},
		"an Instance became Ready":       {existing: counts(2, 1), wanted: counts(2, 2)},
		"an Instance is not Ready":       {existing: counts(2, 2), wanted: counts(2, 1)},
		"a rollout begins":               {existing: with(progressing("False")), wanted: with(progressing("True")), want: true},
		"a rollout goes on":              {existing: with(progressing("True")), wanted: with(progressing("True")), want: true},
		"at rest":                        {existing: with(progressing("True")), wanted: with(progressing("False"))},
		"the first state of all":         {wanted: with(progressing("True")), want: true},
		"at rest for a newer generation": {existing: with(observed("False", 1)), wanted: with(observed("False", 2))},
		"at rest as before":              {existing: with(observed("False", 2)), wanted: with(observed("False", 2)), want: true},
		"a newer generation begins":      {existing: with(observed("False", 1)), wanted: with(observed("True", 2)), want: true},
		"at rest from the first":         {wanted: with(progressing("False"))},
		"stopping for the suspension":    {existing: with(nil), wanted: with(suspended("False")), want: true},
		"stopped":                        {existing: with(suspended("False")), wanted: with(suspended("True"))},
		"resumed":                        {existing: with(suspended("True")), wanted: with(nil), want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Passing(test.existing.ReplicaCounts, test.wanted.ReplicaCounts, test.existing.Conditions,
				test.wanted.Conditions); got != test.want {
				t.Errorf("passing is %t", got)
			}
		})
	}
}
