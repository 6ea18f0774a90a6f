// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// becomesAProject verifies that a namespace does not get the label while a policy of others is in it.
func (h *withoutMilo) becomesAProject(plain *corev1.Namespace) {
	h.Helper()
	policy := &policyv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: plain.Name, Name: "theirs"}}
	policy.Spec.ResourceSelectors = []policyv1alpha1.ResourceSelector{{APIVersion: "v1", Kind: "Pod"}}
	if err := h.admin.Create(h.Context(), policy); err != nil {
		h.Fatal(err)
	}
	label := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, v1alpha.LabelNamespaceProject))
	become := func() error { return h.admin.Patch(h.Context(), plain.DeepCopy(), label, client.DryRunAll) }
	if err := become(); err == nil || !strings.Contains(err.Error(), "PropagationPolicy theirs") {
		h.Errorf("a namespace with a policy becomes a project: %v", err)
	}
	if err := h.admin.Delete(h.Context(), policy); err != nil {
		h.Fatal(err)
	}
	if err := become(); err != nil {
		h.Errorf("without the policy it does not: %v", err)
	}
}
