// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package disruption

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const (
	// protectRequeue is the time until an incomplete budget, with a Pod that is not protected, is checked again. Most
	// often an event comes first.
	protectRequeue = 2 * time.Second
	// conflictRequeue is when a budget is written again whose status has just changed.
	conflictRequeue = 100 * time.Millisecond
)

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	pace.Runner
	deployment *v1alpha.WorkloadDeployment
	// existing is the budget with the name of the deployment, or an empty one.
	existing *policyv1.PodDisruptionBudget
}

// Reconcile creates, changes or deletes the budget of one WorkloadDeployment.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r}
	if err := s.read(ctx, r.Client, request.NamespacedName); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if proved, err := owned.IsCopy(ctx, r.Client, s.deployment); err != nil || !proved {
		return reconcile.Result{RequeueAfter: owned.UnprovenRequeue}, err
	}
	if correct, err := s.correct(ctx); err != nil || correct {
		return s.RequeueAfter.Result(), err
	}
	return s.Run(ctx, s.refresh, s.ensure)
}

// read gets the deployment and its budget.
func (s *scope) read(ctx context.Context, reader client.Reader, key client.ObjectKey) error {
	s.deployment, s.existing = &v1alpha.WorkloadDeployment{}, &policyv1.PodDisruptionBudget{}
	if err := reader.Get(ctx, key, s.deployment); err != nil {
		return fmt.Errorf("get WorkloadDeployment %s: %w", key, err)
	}
	if err := reader.Get(ctx, key, s.existing); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get PodDisruptionBudget %s: %w", key, err)
	}
	return nil
}

// refresh bypasses the cache before a write. The cache of a new leader may have an older deployment than the former
// leader's: a budget that was raised and confirmed must not be lowered because of that.
func (s *scope) refresh(ctx context.Context) error {
	return s.read(ctx, s.APIReader, client.ObjectKeyFromObject(s.deployment))
}

// idle reports whether the budget stays unchanged: it is deleted with its deployment, and if the API server of the cell
// has dropped fields of the deployment, or an override policy has changed them, its floor is not known.
func (s *scope) idle() bool {
	refused := templates.RefusalOf(s.deployment)
	return !s.deployment.DeletionTimestamp.IsZero() || owned.Floor(s.deployment) == nil && refused.Any() || len(refused.Overridden) > 0
}

// correct reports whether the budget is the desired one.
func (s *scope) correct(ctx context.Context) (bool, error) {
	floor := owned.Floor(s.deployment)
	switch {
	case s.idle():
		return true, nil
	case floor == nil:
		return !s.removable(), nil
	}
	desired, err := s.desired(ctx, floor)
	if err != nil {
		return false, err
	}
	return s.existing.UID != "" && !apply.MetadataDiffers(s.existing, desired) &&
		equality.Semantic.DeepEqual(s.existing.Spec, desired.Spec), nil
}

// desired returns the budget for a floor. It is complete once every Pod of an Available Instance counts.
func (s *scope) desired(ctx context.Context, wanted *v1alpha.AvailabilityFloor) (*policyv1.PodDisruptionBudget, error) {
	all, err := complete(s.existing), error(nil)
	if !all {
		if all, err = s.allProtected(ctx); err != nil {
			return nil, err
		}
	}
	if !all {
		s.RequeueAfter.AtMost(protectRequeue)
	}
	floor := wanted
	if metav1.IsControlledBy(s.existing, s.deployment) {
		floor = newest(s.existing, wanted)
	}
	return desiredBudget(s.deployment, floor, all), nil
}

// allProtected reports whether every Pod that has been ready for long enough has the label. cell/runtime sets the label
// before it reports the Instance as Available, and reads from the same cache: if the label is missing here, the report
// of an Available Instance may be in flight.
func (s *scope) allProtected(ctx context.Context) (bool, error) {
	var pods corev1.PodList
	if err := s.Client.List(ctx, &pods, client.InNamespace(s.deployment.Namespace),
		client.MatchingLabels{v1alpha.LabelDeploymentName: s.deployment.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list the Pods of WorkloadDeployment %s: %w", client.ObjectKeyFromObject(s.deployment), err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Labels[v1alpha.LabelProtected] == v1alpha.ProtectedTrue || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		if available, err := s.available(ctx, pod); err != nil || available {
			return false, err
		}
	}
	return true, nil
}

// available reports whether the Instance of a Pod is Available, by the Pod.
func (s *scope) available(ctx context.Context, pod *corev1.Pod) (bool, error) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type != corev1.PodReady || condition.Status != corev1.ConditionTrue {
			continue
		}
		instance := &v1alpha.Instance{}
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(pod), instance); err != nil {
			return false, client.IgnoreNotFound(err) // without an Instance it counts for no deployment
		}
		due := owned.ReadinessOf(instance, pod, s.Clock.Now()).Since.Add(s.deployment.Spec.MinReady(&instance.Spec))
		return !s.Clock.Now().Before(due) && metav1.IsControlledBy(pod, instance), nil
	}
	return false, nil
}

func (s *scope) ensure(ctx context.Context) error {
	floor := owned.Floor(s.deployment)
	if s.idle() {
		return nil
	}
	if floor == nil {
		return s.remove(ctx)
	}
	if owner := metav1.GetControllerOf(s.existing); owner != nil && owner.UID != s.deployment.UID {
		// The garbage collector deletes it with the earlier deployment of this name; the event requeues this one.
		return s.delete(ctx)
	}
	desired, err := s.desired(ctx, floor)
	if err != nil {
		return err
	}
	stored, err := apply.ExactVersion(ctx, s.Client, FieldManager, s.existing, desired)
	if err != nil {
		s.RequeueAfter.AtMost(conflictRequeue) // no event reports a change of the status
		return owned.UnlessEnding(err)
	}
	if stored.ResourceVersion == s.existing.ResourceVersion {
		return nil
	}
	log.FromContext(ctx).Info("Wrote the disruption budget", "minAvailable", desired.Spec.MinAvailable.IntVal,
		"sequence", desired.Annotations[v1alpha.AnnotationFloorSequence], "complete", complete(desired))
	return nil
}

// removable reports whether there is a budget of the deployment to delete. A budget with another owner stays.
func (s *scope) removable() bool {
	return s.existing.UID != "" && s.existing.DeletionTimestamp.IsZero() && metav1.IsControlledBy(s.existing, s.deployment)
}

// remove deletes the budget of a deployment without a floor.
func (s *scope) remove(ctx context.Context) error {
	if !s.removable() {
		return nil
	}
	return s.delete(ctx)
}

func (s *scope) delete(ctx context.Context) error {
	if err := s.Client.Delete(ctx, s.existing, client.Preconditions{UID: &s.existing.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete PodDisruptionBudget %s: %w", client.ObjectKeyFromObject(s.existing), err)
	}
	return nil
}
