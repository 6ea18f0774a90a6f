// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package origin

import (
	"context"
	"fmt"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Binding reads what Karmada's scheduler has decided of a copy, and what its cells report. It is nil before there is one.
func Binding(ctx context.Context, hub client.Reader, copied types.NamespacedName) (*workv1alpha2.ResourceBinding, error) {
	binding := &workv1alpha2.ResourceBinding{}
	name := types.NamespacedName{Namespace: copied.Namespace, Name: karmadanames.GenerateBindingName("WorkloadDeployment", copied.Name)}
	err := hub.Get(ctx, name, binding)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get the ResourceBinding of the hub's copy: %w", err)
	}
	return binding, nil
}

// BindsDeployment says whether a ResourceBinding is about a WorkloadDeployment.
func BindsDeployment(binding *workv1alpha2.ResourceBinding) bool {
	return binding.Spec.Resource.Kind == "WorkloadDeployment" && binding.Spec.Resource.APIVersion == v1alpha.GroupVersion.String()
}

// OfBinding asks for the original of the copy that a ResourceBinding binds: none when it is not one of ours, or one that
// the hub's cache has not heard of yet, whose own event comes.
func OfBinding(hub client.Reader) func(context.Context, client.Object) []mcreconcile.Request {
	return func(ctx context.Context, changed client.Object) []mcreconcile.Request {
		binding, ok := changed.(*workv1alpha2.ResourceBinding)
		if !ok || !BindsDeployment(binding) {
			return nil
		}
		copied := &v1alpha.WorkloadDeployment{}
		if err := hub.Get(ctx, types.NamespacedName{Namespace: binding.Namespace, Name: binding.Spec.Resource.Name}, copied); err != nil {
			return nil
		}
		return OfCopy(ctx, copied)
	}
}
