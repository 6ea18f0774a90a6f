// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Wants returns a function that reports whether this controller recreates a deleted deployment: its Workload exists, is
// not being deleted, chooses its placement and city, the project may use the city, and the namespace is not being
// deleted: nothing can be created there. The function reads project, which must be the API server: a finalizer depends
// on the answer. An error is no answer.
func Wants(locations projects.Locations) func(ctx context.Context, project client.Reader, d *v1alpha.WorkloadDeployment) (bool, error) {
	return func(ctx context.Context, project client.Reader, d *v1alpha.WorkloadDeployment) (bool, error) {
		workload := &v1alpha.Workload{}
		err := project.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: d.Spec.WorkloadRef.Name}, workload)
		switch {
		case wire.IsMissing(err, d.Spec.WorkloadRef.Name):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("get the Workload of deployment %s: %w", d.Name, err)
		case workload.UID != d.Spec.WorkloadRef.UID || !workload.DeletionTimestamp.IsZero():
			return false, nil
		}
		available, err := locations.List(ctx, project)
		if err != nil {
			return false, err
		}
		if !plan.Wants(workload, available, d) {
			return false, nil
		}
		namespace := &corev1.Namespace{}
		if err := project.Get(ctx, client.ObjectKey{Name: d.Namespace}, namespace); err != nil {
			return false, fmt.Errorf("get the namespace of deployment %s: %w", d.Name, err)
		}
		return namespace.DeletionTimestamp.IsZero(), nil
	}
}
