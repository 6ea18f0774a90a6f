// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// scalers verifies what Kubernetes' ways to scale answer: the subresource scale names the command of a consumer, and a
// HorizontalPodAutoscaler that names a Workload is refused. Others are not touched.
func (h *withoutMilo) scalers(web *v1alpha.Workload) {
	h.Helper()
	scale := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":3}}`))
	err := h.as("alice").SubResource("scale").Patch(h.Context(), web.DeepCopy(), scale)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "kubectl compute scale NAME --replicas=N") {
		h.Errorf("kubectl scale: %v", err)
	}

	named := metav1.ObjectMeta{Namespace: web.Namespace, Name: "web"}
	of := func(apiVersion, kind string) []client.Object {
		first := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: named}
		first.Spec.ScaleTargetRef = autoscalingv1.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: "web"}
		first.Spec.MaxReplicas = 3
		second := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named}
		second.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: "web"}
		second.Spec.MaxReplicas = 3
		return []client.Object{first, second}
	}
	carol := h.as("carol")
	for _, kind := range []string{v1alpha.KindWorkload, v1alpha.KindWorkloadDeployment} {
		for _, autoscaler := range of(v1alpha.GroupVersion.String(), kind) {
			eventually(h.T, func() error {
				err := carol.Create(h.Context(), autoscaler, client.DryRunAll)
				if err != nil && strings.Contains(err.Error(), "spec.placements[].scaleSettings") {
					return nil
				}
				return fmt.Errorf("%T of a %s: %w", autoscaler, kind, err)
			})
		}
	}
	for _, autoscaler := range of("apps/v1", "Deployment") {
		if err := carol.Create(h.Context(), autoscaler, client.DryRunAll); err != nil {
			h.Errorf("%T of a Deployment: %v", autoscaler, err)
		}
	}
	h.earlierAutoscaler(of("apps/v1", "Deployment")[1].(*autoscalingv2.HorizontalPodAutoscaler))
}

// earlierAutoscaler verifies that an autoscaler cannot be pointed at a Workload.
func (h *withoutMilo) earlierAutoscaler(autoscaler *autoscalingv2.HorizontalPodAutoscaler) {
	h.Helper()
	carol := h.as("carol")
	if err := carol.Create(h.Context(), autoscaler); err != nil {
		h.Fatal(err)
	}
	pointed := autoscaler.DeepCopy()
	pointed.Spec.ScaleTargetRef.APIVersion, pointed.Spec.ScaleTargetRef.Kind = v1alpha.GroupVersion.String(), v1alpha.KindWorkload
	if err := carol.Update(h.Context(), pointed); err == nil || !strings.Contains(err.Error(), "no autoscaler of the hub scales a Workload") {
		h.Errorf("an autoscaler that is pointed at a Workload: %v", err)
	}
	if err := carol.Delete(h.Context(), autoscaler); err != nil {
		h.Error(err)
	}
}
