// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/counts"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// truth is how many Instances the reachable cells have. An Instance that another cell also has is counted twice: it
// exists twice.
type truth struct{ replicas, ready, available, desired int32 }

// anyScope is the projection of a deployment in one to three cells, of which some have Instances to release and some
// are not reached.
func anyScope(random *rand.Rand) (*scope, truth) {
	s := &scope{
		Reconciler: &Reconciler{Options: Options{Clock: testingclock.NewFakePassiveClock(time.Unix(1000, 0))}},
		facts: facts{
			now: time.Unix(1000, 0), deployment: &v1alpha.WorkloadDeployment{}, copied: &v1alpha.WorkloadDeployment{}, row: &path.Row{},
		},
	}
	s.deployment.Name, s.copied.Name = "web", "web"
	s.deployment.Spec.Template = planes.Template("registry.example/app:1")
	hash, err := templates.Hash(&s.deployment.Spec.Template)
	if err != nil {
		panic(err)
	}
	s.copied.Spec = *s.deployment.Spec.DeepCopy()
	s.copied.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{}
	s.copied.Status.Conditions = []metav1.Condition{
		condition(v1alpha.ConditionAvailable, metav1.ConditionTrue, v1alpha.ReasonStableInstanceFound, ""),
	}
	total, index := truth{}, 0
	for n := range 1 + random.IntN(3) {
		cell := v1alpha.CellAssignment{Name: fmt.Sprintf("cell-%d", n)}
		of, lost := v1alpha.CellIndices{Cell: cell.Name, TemplateHash: hash}, random.IntN(3) == 0
		lists := map[*string][]int{}
		note := func(list *string, at int) { lists[list] = append(lists[list], at) }
		var assigned, releasing []int
		add := func(at int) {
			if random.IntN(6) == 0 {
				return
			}
			note(&of.Existing, at)
			s.copied.Status.Replicas++
			s.copied.Status.CurrentReplicas++
			total.replicas++
			if random.IntN(2) == 0 {
				note(&of.Current, at)
			}
			if random.IntN(3) == 0 {
				return
			}
			note(&of.Ready, at)
			s.copied.Status.ReadyReplicas++
			available := random.IntN(2) == 0
			if available {
				note(&of.AvailableIndices, at)
				s.copied.Status.AvailableReplicas++
			}
			if lost {
				return
			}
			total.ready++
			if available {
				total.available++
			}
		}
		for range random.IntN(4) {
			assigned = append(assigned, index)
			add(index)
			index++
		}
		for range random.IntN(3) {
			releasing = append(releasing, index)
			add(index)
			index++
		}
		for list, indices := range lists {
			*list = naming.Format(indices)
		}
		cell.Indices, cell.Releasing = naming.Ranges(assigned), naming.Ranges(releasing)
		total.desired += int32(len(assigned))
		s.copied.Spec.Assignment.Cells = append(s.copied.Spec.Assignment.Cells, cell)
		s.copied.Status.Indices = append(s.copied.Status.Indices, of)
		found := path.Finding{Fault: path.CellNotReady, Cell: cell.Name, Message: "lost"}
		if lost && s.concerns(&found) {
			s.findings = append(s.findings, found)
		}
	}
	// A cell that has not observed that it loses Instances still wants them.
	s.copied.Status.DesiredReplicas = total.desired + int32(random.IntN(3))
	s.deployment.Spec.ScaleSettings.MinReplicas = total.desired
	return s, total
}

// TestCountsNeverLie: whatever cells report, and whichever are not reached, the counts in the project contradict
// neither each other nor what is known of the cells.
func TestCountsNeverLie(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5000) {
		s, total := anyScope(rand.New(rand.NewPCG(seed, 1)))
		status := s.desiredStatus(true, "")
		s.doubt(&status)
		if err := s.addUpdated(&status); err != nil {
			t.Fatal(err)
		}
		s.deployment.Status = status
		found := counts.OfDeployment(s.deployment)
		if status.ReadyReplicas != total.ready || status.AvailableReplicas != total.available || status.Replicas != total.replicas ||
			status.DesiredReplicas != total.desired || status.AssignedReplicas != total.desired {
			found = append(found, fmt.Sprintf("the cells have %+v", total))
		}
		if len(found) > 0 {
			t.Fatalf("seed %d: %v: %+v of %+v, assigned %+v, findings %+v", seed, found, status.ReplicaCounts,
				s.copied.Status.Indices, s.copied.Spec.Assignment.Cells, s.findings)
		}
	}
}
