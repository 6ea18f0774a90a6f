// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// findLeft determines which leaving deployments have no object in the cell any more. A reported departure is never
// withdrawn: a deployment that returns has another departure. While objects are left, findLeft repeats the check, since
// Pods end without an event for the Cell.
func (s *scope) findLeft(ctx context.Context) error {
	for _, leaving := range s.cell.Spec.Leaving {
		left := slices.Contains(s.cell.Status.Left, leaving)
		if !left {
			var err error
			if left, err = s.hasLeft(ctx, leaving); err != nil {
				return err
			}
		}
		if left {
			s.status.Left = append(s.status.Left, leaving)
		} else {
			s.RequeueAfter.AtMost(interval)
		}
	}
	return nil
}

// hasLeft reports whether no object of a deployment is left: no WorkloadDeployment, no Instance and no Pod. The caches
// may be stale: only the API server proves that no object exists.
func (s *scope) hasLeft(ctx context.Context, leaving v1alpha.LeavingDeployment) (bool, error) {
	for _, reader := range []client.Reader{s.client, s.apiReader} {
		if found, err := hasAny(ctx, reader, leaving); err != nil || found {
			return false, err
		}
	}
	return true, nil
}

func hasAny(ctx context.Context, reader client.Reader, leaving v1alpha.LeavingDeployment) (bool, error) {
	key := client.ObjectKey{Namespace: leaving.Namespace, Name: leaving.Name}
	err := reader.Get(ctx, key, &v1alpha.WorkloadDeployment{})
	if err == nil || !apierrors.IsNotFound(err) {
		if err != nil {
			err = fmt.Errorf("get WorkloadDeployment %s: %w", key, err)
		}
		return true, err
	}
	var instances v1alpha.InstanceList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&instances, &pods} {
		if err := reader.List(ctx, list, client.InNamespace(leaving.Namespace),
			client.MatchingLabels{v1alpha.LabelDeploymentName: leaving.Name}, client.Limit(1), client.UnsafeDisableDeepCopy); err != nil {
			return true, fmt.Errorf("list %T of WorkloadDeployment %s: %w", list, key, err)
		}
	}
	return len(instances.Items)+len(pods.Items) > 0, nil
}
