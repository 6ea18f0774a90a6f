// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"time"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/indexing"
)

// judgeSlices audits the paths of the slices, if that is due.
func (s *deploymentScope) judgeSlices(ctx context.Context, row *path.Row) ([]path.Finding, error) {
	now := s.Clock.Now()
	if now.Sub(s.Book.SlicesJudged(s.request)) < s.Interval*3/4 {
		return nil, nil
	}
	loaded, err := row.LoadSlices(ctx, s.Hub, s.copyName)
	if err != nil {
		return nil, err
	}
	findings := path.JudgeSlices(row, loaded)
	if len(findings) == 0 {
		s.Book.SetSlicesJudged(s.request, now)
	}
	return findings, nil
}

// sliceWants reports whether the ResourceBinding of a slice that was judged to be left over belongs to an existing
// slice after all.
func (s *deploymentScope) sliceWants(ctx context.Context, found *path.Finding) (bool, error) {
	slice := &v1alpha.InstanceSlice{}
	err := s.APIReader.Get(ctx, types.NamespacedName{Namespace: found.Object.GetNamespace(), Name: found.Slice}, slice)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("read the InstanceSlice of a ResourceBinding: %w", err)
	}
	owner := metav1.GetControllerOf(found.Object)
	return owner == nil || owner.UID == slice.UID, nil
}

// ofLeftoverSlice requests the deployment of a ResourceBinding whose slice does not exist.
func (r *Deployments) ofLeftoverSlice(ctx context.Context, binding *workv1alpha2.ResourceBinding) []mcreconcile.Request {
	var requests []mcreconcile.Request
	for _, request := range path.OfSliceBinding(r.Hub)(ctx, binding) {
		name := types.NamespacedName{Namespace: binding.Namespace, Name: request.Name}
		deployment, _, ok := indexing.ParseSliceName(request.Name)
		if !ok || !apierrors.IsNotFound(r.Hub.Get(ctx, name, &v1alpha.InstanceSlice{})) {
			continue
		}
		request.Name = deployment
		r.Book.SetSlicesJudged(request, time.Time{})
		requests = append(requests, request)
	}
	return requests
}
