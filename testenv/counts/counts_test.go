// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestImpossible(t *testing.T) {
	t.Parallel()
	good := v1alpha.ReplicaCounts{
		Replicas: 4, CurrentReplicas: 4, DesiredReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 2, UpdatedReplicas: 2,
		UpdatedAvailableReplicas: 1,
	}
	if found := Impossible(&good); len(found) > 0 {
		t.Errorf("possible counts: %v", found)
	}
	for name, change := range map[string]func(*v1alpha.ReplicaCounts){
		"more Ready than exist":                 func(c *v1alpha.ReplicaCounts) { c.ReadyReplicas = 5 },
		"more Available than Ready":             func(c *v1alpha.ReplicaCounts) { c.AvailableReplicas = 4 },
		"more updated than exist":               func(c *v1alpha.ReplicaCounts) { c.UpdatedReplicas = 5 },
		"more updated Available than Available": func(c *v1alpha.ReplicaCounts) { c.AvailableReplicas = 0 },
		"more updated Available than updated":   func(c *v1alpha.ReplicaCounts) { c.UpdatedReplicas = 0 },
		"more current than exist":               func(c *v1alpha.ReplicaCounts) { c.CurrentReplicas = 5 },
		"negative":                              func(c *v1alpha.ReplicaCounts) { c.UpdatedAvailableReplicas = -1 },
	} {
		bad := good
		change(&bad)
		if len(Impossible(&bad)) == 0 {
			t.Errorf("%s: %+v are found possible", name, bad)
		}
	}
	w := &v1alpha.Workload{Status: v1alpha.WorkloadStatus{ReplicaCounts: good}}
	if len(OfWorkload(w)) == 0 {
		t.Error("counts without a placement are found possible")
	}
	d := &v1alpha.WorkloadDeployment{}
	d.Status.Indices = []v1alpha.CellIndices{{Existing: "0-1", AvailableIndices: "1-2"}}
	if found := OfDeployment(d); len(found) != 2 {
		t.Errorf("of an Instance that does not exist, and 2 that availableReplicas lacks: %v", found)
	}
	d.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionStatusCurrent, Status: metav1.ConditionFalse}}
	if found := OfDeployment(d); len(found) != 1 {
		t.Errorf("while the report is in doubt, availableReplicas may leave out Instances: %v", found)
	}
}
