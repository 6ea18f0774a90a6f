// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instancetypes

import (
	"context"
	"errors"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// offerAtVisits offers the types also in projects without a watch: a consumer needs them before the first Workload. It
// runs whenever a project is visited, and requests a visit to all of them soon after the types have changed.
func (r *Reconciler) offerAtVisits(visits projects.Visits) {
	visits.OnVisit(func(ctx context.Context, _ string, project client.Client) error {
		types, err := r.Types.Types(ctx)
		if errors.Is(err, ErrNotServed) {
			return nil
		}
		if err != nil {
			return err
		}
		return makeOffer(ctx, project, project, types)
	})
	var known sync.Once
	r.Types.OnChange(func() {
		// The first answer is no change: a replica that starts must not request a visit to all projects.
		isFirst := false
		known.Do(func() { isFirst = true })
		if !isFirst {
			visits.VisitAll()
		}
	})
}
