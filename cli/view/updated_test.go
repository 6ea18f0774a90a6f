// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
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
