// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// withoutCopy reports whether there is a status to project although the hub has no copy: the cells' reports on the
// previous copy are shown, and no longer certain. It then continues with a copy without a report, like the next copy.
func (s *scope) withoutCopy(hubNamespace string) bool {
	shown := withoutForeign(s.deployment.Status.Conditions)
	if len(shown) == 0 {
		return false
	}
	s.copied = &v1alpha.WorkloadDeployment{}
	s.copied.Namespace, s.copied.Name = hubNamespace, s.deployment.Name
	s.copied.Spec.Suspended = meta.FindStatusCondition(shown, v1alpha.ConditionSuspended) != nil
	s.withdrawn = true
	return true
}

// unheard returns the conditions of an Instance that was shown for an earlier copy, while no cell has reported on its
// successor.
func (s *facts) unheard(existing *v1alpha.Instance) []metav1.Condition {
	since := metav1.NewTime(s.now.Truncate(time.Second))
	before := meta.FindStatusCondition(existing.Status.Conditions, v1alpha.ConditionReady)
	if before != nil && before.Status == metav1.ConditionUnknown && before.Reason == v1alpha.ReasonAwaitingReport {
		since = before.LastTransitionTime
	}
	return unknown(existing.Status.Conditions, metav1.Condition{
		Reason: v1alpha.ReasonAwaitingReport, ObservedGeneration: existing.Generation, LastTransitionTime: since,
		Message: fmt.Sprintf("unknown since %s: the hub's copy of the deployment was deleted; waiting for the cells of %s to "+
			"report on the next one",
			since.UTC().Format(time.RFC3339), s.deployment.Spec.CityCode),
	})
}
