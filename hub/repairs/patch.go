// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package repairs

import (
	"encoding/json"
	"fmt"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// IsSuspended reports whether a person has suspended a Work.
func IsSuspended(work *workv1alpha1.Work) bool { return ptr.Deref(work.Spec.SuspendDispatching, false) }

// Toggled changes the generation of a Work and nothing else: Karmada's execution controller ignores updates that keep
// the generation. Dispatching that is not suspended is the same whether the field is false or not set.
func Toggled(work *workv1alpha1.Work) map[string]any {
	if work.Spec.SuspendDispatching == nil {
		return map[string]any{"suspendDispatching": false}
	}
	return map[string]any{"suspendDispatching": nil}
}

// Patch changes fields of the spec of a live object, and records the time.
func Patch(live client.Object, spec map[string]any, now time.Time) (client.Patch, error) {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"uid": live.GetUID(), "annotations": map[string]string{v1alpha.AnnotationRepairedAt: now.UTC().Format(time.RFC3339)},
		},
		"spec": spec,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the patch of %T %s: %w", live, client.ObjectKeyFromObject(live), err)
	}
	return client.RawPatch(types.MergePatchType, patch), nil
}
