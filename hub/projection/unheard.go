// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
func (s *scope) unheard(existing *v1alpha.Instance) []metav1.Condition {
	since := metav1.NewTime(s.Clock.Now().Truncate(time.Second))
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

// findOrphans finds all projected Instances that have lost their owner reference, as after a deletion with
// --cascade=orphan, if their deployment is being deleted or does not exist. The garbage collector deletes the others.
func (s *scope) findOrphans(ctx context.Context) error {
	if s.deployment.UID != "" && s.deployment.DeletionTimestamp.IsZero() {
		return nil
	}
	instances, err := s.listInstances(ctx)
	for i := range instances {
		if len(instances[i].OwnerReferences) == 0 {
			s.orphans = append(s.orphans, &instances[i])
		}
	}
	return err
}

// deleteOrphans deletes the orphans that were found. A restore from a backup creates Instances without an owner, too.
func (s *scope) deleteOrphans(ctx context.Context) error {
	for _, orphan := range s.orphans {
		if !orphan.DeletionTimestamp.IsZero() {
			continue
		}
		if err := s.project.Delete(ctx, orphan, client.Preconditions{UID: &orphan.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete the projection of Instance %s, which has lost its owner: %w", orphan.Name, err)
		}
	}
	return nil
}
