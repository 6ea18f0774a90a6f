// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Marks informs the controllers of projects that are about to have Workloads: no controller watches a project without Workloads.
type Marks interface {
	// Mark reports a project. It may wait a short time for the write, whether it succeeds or not.
	Mark(ctx context.Context, project string)
}

// mark informs the project's controllers of a request that may be stored. A change of the spec informs them too, in case they missed
// the creation.
func (v *Workloads) mark(ctx context.Context, request admission.Request) {
	if v.Marks == nil || request.DryRun != nil && *request.DryRun {
		return
	}
	// A request outside of any project is stored only if the add-on admits everything, and no controller reads the object.
	if project, err := scopeOf(v.Scope).Of(request); err == nil {
		v.Marks.Mark(ctx, project)
	}
}
