// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

// Reconcile looks at one WorkloadDeployment.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	deployment := &v1alpha.WorkloadDeployment{}
	if err := r.Client.Get(ctx, request.NamespacedName, deployment); err != nil {
		if apierrors.IsNotFound(err) {
			r.pace.forget(request.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, err
	}
	instances, err := owned.Instances(ctx, r.Client, deployment)
	if err != nil {
		return reconcile.Result{}, err
	}
	status, err := Report(deployment, instances, r.Clock.Now())
	if err != nil {
		return reconcile.Result{}, err
	}
	if sameStatus(&deployment.Status, &status) {
		return reconcile.Result{}, nil
	}
	if rest := r.pace.rest(request.NamespacedName); rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	r.pace.wrote(request.NamespacedName)
	err = apply.Status(ctx, r.Client, Owner, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: deployment.Name, UID: deployment.UID},
		Status:     status,
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// It is gone, or another one by now; the cache will show it.
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, err
}
