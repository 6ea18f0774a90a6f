// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

// recordReady records when the agent has seen a Pod ready whose node has a clock that is off, so that an agent that restarts
// does not begin to count again.
func (s *scope) recordReady(ctx context.Context) error {
	if s.pod == nil || !s.pod.DeletionTimestamp.IsZero() {
		return nil
	}
	record := owned.ReadinessOf(s.instance, s.pod, s.Clock.Now()).Record
	if record == "" || s.pod.Annotations[v1alpha.AnnotationReadySeen] == record {
		return nil
	}
	return s.annotatePod(ctx, v1alpha.AnnotationReadySeen, record)
}

// annotatePod writes an annotation of the Pod, which must not have changed.
func (s *scope) annotatePod(ctx context.Context, name, value string) error {
	annotated := s.pod.DeepCopy()
	metav1.SetMetaDataAnnotation(&annotated.ObjectMeta, name, value)
	patch := client.MergeFromWithOptions(s.pod, client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, annotated, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("write annotation %s of Pod %s: %w", name, client.ObjectKeyFromObject(s.pod), err)
	}
	s.pod = annotated
	return nil
}

// protectPod labels the Pod of an Instance that is Available, if its deployment has a floor: the disruption budget
// counts Pods with the label only. The label precedes the status, so that no Instance is reported as Available that the
// budget does not protect.
func (s *scope) protectPod(ctx context.Context) error {
	if s.pod == nil || s.deployment == nil || !s.pod.DeletionTimestamp.IsZero() || !s.instance.DeletionTimestamp.IsZero() {
		return nil
	}
	protected := s.pod.Labels[v1alpha.LabelProtected] == v1alpha.ProtectedTrue
	available := s.available().Status == metav1.ConditionTrue
	// Kubernetes does not count a Pod that is not ready. The label of one that becomes ready again must be gone before
	// then, unless it is Available at once.
	wanted := owned.Floor(s.deployment) != nil && (available || protected && s.minReady == 0)
	if wanted == protected {
		return nil
	}
	labelled := s.pod.DeepCopy()
	if wanted {
		labelled.Labels[v1alpha.LabelProtected] = v1alpha.ProtectedTrue
	} else {
		delete(labelled.Labels, v1alpha.LabelProtected)
	}
	// The Pod must not have changed: another one of the name is not ready.
	patch := client.MergeFromWithOptions(s.pod, client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, labelled, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("change label %s of Pod %s: %w", v1alpha.LabelProtected, client.ObjectKeyFromObject(s.pod), err)
	}
	s.pod = labelled
	return nil
}
