// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/citychoice"
)

// Reservation is the number of Instances that a request adds to a project's Workloads.
type Reservation struct {
	// More is the number of added Instances. Most is the maximum for the project.
	More, Most int64
	// DryRun reports that the request is not stored.
	DryRun bool
}

// change is the Workload of a request, the Workload that it replaces or nil, and the locations of the project.
type change struct {
	now, before *v1alpha.Workload
	places      *places
}

// validateCount returns a problem for a change that asks for more Instances than the project may have. A change that asks for no
// more than before is not counted: a project that exceeds a lower bound can be changed, and reduced.
func (v *Workloads) validateCount(ctx context.Context, project Project, request admission.Request, c change) (*field.Error, error) {
	if v.MaxInstances <= 0 {
		return nil, nil
	}
	locations, err := v.locationsToCount(ctx, project, c)
	if err != nil {
		return nil, err
	}
	more := citychoice.MostInstances(c.now.Spec.Placements, locations)
	if c.before != nil {
		more -= citychoice.MostInstances(c.before.Spec.Placements, locations)
	}
	if more <= 0 {
		return nil, nil
	}
	total, err := v.Projects.ReserveInstances(ctx, project, Reservation{More: more, Most: v.MaxInstances, DryRun: ptr.Deref(request.DryRun, false)})
	if err != nil || total <= v.MaxInstances {
		return nil, err
	}
	return field.Invalid(field.NewPath("spec", "placements"), field.OmitValueType{}, fmt.Sprintf(
		"asks for %d Instances more; the Workloads of project %q would have %d, and may have %d; reduce replicas or cities",
		more, project.Name, total, v.MaxInstances)), nil
}

// locationsToCount are the locations of the project, where a placement selects them.
func (v *Workloads) locationsToCount(ctx context.Context, project Project, c change) ([]citychoice.Location, error) {
	selects := func(placement v1alpha.WorkloadPlacement) bool { return placement.LocationSelector != nil }
	if c.places.known || !slices.ContainsFunc(c.now.Spec.Placements, selects) {
		return c.places.locations, nil
	}
	locations, _, err := v.Projects.Locations(ctx, project)
	return locations, err
}
