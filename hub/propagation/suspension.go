// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"sigs.k8s.io/controller-runtime/pkg/source"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// suspensions returns a source of requests for all deployments of a project that was suspended or resumed.
func (r *Reconciler) suspensions() source.TypedSource[mcreconcile.Request] {
	return projects.Changes(r.Projects, r.Suspension.OnSuspension)
}
