// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/counts"
)

// TestCountsOfAnyInstances: whatever Instances a cell has, its counts do not contradict each other, and the lists of
// indices have as many.
func TestCountsOfAnyInstances(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
		d.Spec.ScaleSettings.MinReplicas = 1 + random.Int32N(4)
		if random.IntN(2) == 0 {
			d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: random.Int32N(4)}
			if random.IntN(2) == 0 {
				d.Spec.Partition.Indices = []v1alpha.IndexRange{{First: d.Spec.Partition.Index, Last: d.Spec.Partition.Index}}
			}
		}
		hash, err := templates.Hash(&d.Spec.Template)
		if err != nil {
			t.Fatal(err)
		}
		var instances []v1alpha.Instance
		for index := range 6 {
			if random.IntN(4) == 0 {
				continue
			}
			one := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: naming.InstanceName("web", index)}}
			one.Spec.Controller = &v1alpha.InstanceController{TemplateHash: []string{hash, "earlier"}[random.IntN(2)]}
			if random.IntN(4) == 0 {
				one.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			for _, kind := range []string{v1alpha.ConditionReady, v1alpha.ConditionAvailable} {
				status := []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}[random.IntN(3)]
				one.Status.Conditions = append(one.Status.Conditions, metav1.Condition{Type: kind, Status: status})
			}
			instances = append(instances, one)
		}
		reports, err := Report(d, instances, nil, time.Unix(2, 0))
		if err != nil {
			t.Fatal(err)
		}
		d.Status = reports.Status
		found := counts.OfDeployment(d)
		for list, count := range map[string]int32{
			d.Status.Indices[0].Existing: d.Status.Replicas, d.Status.Indices[0].Ready: d.Status.ReadyReplicas,
			d.Status.Indices[0].AvailableIndices: d.Status.AvailableReplicas,
		} {
			if len(naming.Parse(list)) != int(count) {
				found = append(found, "the list "+list+" has another number")
			}
		}
		if int(d.Status.Replicas) != len(instances) || len(found) > 0 {
			t.Fatalf("seed %d: %v: %+v of %+v", seed, found, d.Status.ReplicaCounts, d.Status.Indices)
		}
	}
}

// TestAwaitingDisruption: an Available Instance below the partition is not replaced, whichever template it has. If it
// were counted, its cell would get tokens that it cannot use, and another one would wait.
func TestAwaitingDisruption(t *testing.T) {
	t.Parallel()
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	d.Spec.ScaleSettings.MinReplicas, d.Spec.Partition = 4, &v1alpha.WorkloadDeploymentPartition{Index: 2}
	d.Spec.Partition.Template.Labels = map[string]string{"version": "earlier"}
	hash, err := templates.Hash(&d.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	earlier, err := templates.Hash(&d.Spec.Partition.Template)
	if err != nil {
		t.Fatal(err)
	}
	var instances []v1alpha.Instance
	for index, template := range []string{"of a revision before", earlier, earlier, hash, hash} {
		one := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: naming.InstanceName("web", index)}}
		one.Spec.Controller = &v1alpha.InstanceController{TemplateHash: template}
		one.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionReady, Status: metav1.ConditionTrue}}
		instances = append(instances, one)
	}
	s := newSummary(d, named(hash), instances)
	// Index 2 gets the new template, and index 4 is not wanted.
	if got := s.awaiting(d, nil); got != 2 {
		t.Errorf("%d wait for a disruption", got)
	}
	if got := s.awaiting(d, map[string]bool{"web-0": true, "web-2": true}); got != 3 {
		t.Errorf("%d wait for a disruption when two nodes are cordoned", got)
	}
	// An autoscaler has added index 2 after the step.
	d.Spec.Partition.Indices = []v1alpha.IndexRange{{First: 3, Last: 3}}
	if got := s.awaiting(d, nil); got != 1 {
		t.Errorf("%d wait for a disruption with an added Instance", got)
	}
}
