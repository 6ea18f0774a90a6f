// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// eventRollout is the reason of the Event of a step.
const eventRollout = "RolloutStep"

// write makes one write of a plan.
func (s *scope) write(ctx context.Context, w *plan.Write) error {
	stored := s.deployments[w.Name]
	switch w.Kind {
	case plan.Record:
		if err := apply.AddMetadata(ctx, s.client, FieldManager, stored, metav1.ObjectMeta{Annotations: w.Annotations}); err != nil {
			return fmt.Errorf("record that traffic leaves deployment %s: %w", w.Name, err)
		}
	case plan.Offer:
		return apply.Replace(ctx, s.client, FieldManager, stored, map[string]any{
			"/metadata/resourceVersion": stored.ResourceVersion, "/metadata/annotations": w.Annotations,
		})
	case plan.Choose:
		s.ended = true
		w.Into(&s.workload.Status)
		if err := s.storeStatus(ctx, &s.workload.Status); err != nil {
			return err
		}
		s.Moves.count(w.Notes)
		for _, note := range w.Notes {
			s.events.Eventf(s.workload, note.Type, note.Reason, "%s", note.Message)
		}
	case plan.Divide:
		s.ended = true
		s.workload.Status.Disruption = w.Division
		return s.storeStatus(ctx, &s.workload.Status)
	case plan.Apply:
		return s.apply(ctx, stored, w)
	case plan.AddFinalizer:
		return s.ensureFinalizer(ctx)
	case plan.Delete:
		return deleteDeployment(ctx, s.client, stored)
	}
	return nil
}

// apply creates a deployment, or gives a stored one its metadata and spec.
func (s *scope) apply(ctx context.Context, stored *v1alpha.WorkloadDeployment, w *plan.Write) error {
	if stored == nil {
		stored = &v1alpha.WorkloadDeployment{}
		if err := s.prepareForHub(ctx, w.Desired); err != nil {
			return err
		}
	}
	write := apply.Exact[*v1alpha.WorkloadDeployment]
	if w.Desired.Spec.Floor != nil || stored.Spec.Floor != nil {
		write = apply.ExactVersion
	}
	result, err := write(ctx, s.client, FieldManager, stored, w.Desired)
	if err != nil {
		return err
	}
	if w.Note != "" && result.Generation != stored.Generation {
		s.events.Eventf(s.workload, corev1.EventTypeNormal, eventRollout, "%s", w.Note)
	}
	s.deployments[w.Name] = result
	return nil
}

// prepareForHub adds the metadata that hub/propagation needs before it writes anything to the hub, so that this costs
// no write of its own.
func (s *scope) prepareForHub(ctx context.Context, desired *v1alpha.WorkloadDeployment) error {
	from := s.project.Origin(desired.Namespace)
	// It is a note: hub/propagation reads the UID before it writes to the hub.
	uid, err := s.Namespaces.Guess(ctx, from, s.project.GetAPIReader())
	if err != nil {
		return err
	}
	desired.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: from.HubNamespace(uid)}
	desired.Finalizers = []string{v1alpha.FinalizerPropagation}
	return nil
}

func deleteDeployment(ctx context.Context, c client.Client, d *v1alpha.WorkloadDeployment) error {
	if err := c.Delete(ctx, d, client.Preconditions{UID: &d.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete deployment %s: %w", d.Name, err)
	}
	return nil
}

// writeStatus writes the status of the Workload if it differs, and then the Events about what has changed: a retry would repeat the
// ones of a change that was not written.
func (s *scope) writeStatus(ctx context.Context, next *plan.Summary) error {
	before, status := &s.workload.Status, &next.Status
	if equality.Semantic.DeepEqual(before, status) {
		s.Passing.Done(s.request)
		return nil
	}
	if s.workload.DeletionTimestamp.IsZero() && !cities.ServingChanged(before.Endpoints, status.Endpoints) &&
		wire.Passing(before.ReplicaCounts, status.ReplicaCounts, before.Conditions, status.Conditions) {
		if wait := s.Passing.Wait(s.request); wait > 0 {
			s.requeueAfter.AtMost(wait)
			return nil
		}
	}
	if err := s.history.storeFirst(ctx, status); err != nil {
		return err
	}
	if err := s.storeStatus(ctx, status); err != nil {
		return err
	}
	s.Passing.Done(s.request)
	for _, event := range next.Events {
		s.events.Eventf(s.workload, event.Type, event.Reason, "%s", event.Message)
	}
	return nil
}

// storeStatus writes the status without the parts that hub/references and hub/names write.
func (s *scope) storeStatus(ctx context.Context, status *v1alpha.WorkloadStatus) error {
	next := s.workload.DeepCopy()
	next.Status = *status.DeepCopy()
	next.Status.Data, next.Status.Hostnames = nil, nil
	for _, others := range []string{v1alpha.ConditionDataCurrent, v1alpha.ConditionNamesProgrammed} {
		meta.RemoveStatusCondition(&next.Status.Conditions, others)
	}
	return apply.Status(ctx, s.client, FieldManager, next)
}
