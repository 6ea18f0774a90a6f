// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/indexing"
	"github.com/karmada-compute/karmada-compute/internal/wording"
)

// tell records events on the Workload: one for each new reason for which Instances do not start, and one when all
// start.
func (s *scope) tell(before, after *v1alpha.WorkloadDeploymentQuota) {
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.deployment.Namespace, Name: s.deployment.Spec.WorkloadRef.Name, UID: s.deployment.Spec.WorkloadRef.UID,
	}}
	for _, withheld := range after.Withheld {
		if withheld.Reason == v1alpha.ReasonPendingEvaluation || slices.ContainsFunc(before.Withheld, sameReason(withheld.Reason)) {
			continue
		}
		s.events.Eventf(workload, corev1.EventTypeWarning, withheld.Reason, "Deployment %s: %s not start: %s",
			s.deployment.Name, wording.Count(len(indexing.OfRanges(withheld.Indices)), "Instance does", "Instances do"), withheld.Message)
	}
	if len(after.Withheld) == 0 && slices.ContainsFunc(before.Withheld, func(w v1alpha.QuotaWithheld) bool { return w.Reason != v1alpha.ReasonPendingEvaluation }) {
		s.events.Eventf(workload, corev1.EventTypeNormal, v1alpha.ReasonQuotaAvailable, "Deployment %s: the quota of all Instances is granted", s.deployment.Name)
	}
}

func sameReason(reason string) func(v1alpha.QuotaWithheld) bool {
	return func(w v1alpha.QuotaWithheld) bool { return w.Reason == reason }
}
