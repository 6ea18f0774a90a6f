// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Marks tells the controllers of projects that are about to have Workloads: nobody watches a project that has none.
type Marks interface {
	// Mark tells of a project. It may wait for that, but not for long, whether it succeeds or not.
	Mark(ctx context.Context, project string)
}

// mark tells the controllers of the project of a request that may be stored. A change of
// its spec tells of it too, should they have missed the creation.
func (v *Workloads) mark(ctx context.Context, request admission.Request) {
	if v.Marks == nil || request.DryRun != nil && *request.DryRun {
		return
	}
	// A request in no project is stored only where nothing is refused, and nobody reads it there.
	if project, err := scopeOf(v.Scope).Of(request); err == nil {
		v.Marks.Mark(ctx, project)
	}
}
