// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/collector"
	"github.com/karmada-compute/karmada-compute/cell/isolation"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const (
	// takenRequeue is the delay before retrying when the Pod's name is taken. The deletion of that Pod is an event for the
	// Instance only when an Instance of the same name controlled it.
	takenRequeue = 10 * time.Second
	// goneRequeue is the delay before retrying when the Pod that had the name has just been deleted.
	goneRequeue = time.Second
	// forbiddenRequeue is the delay before retrying a Pod that the cell forbids: a ResourceQuota, for example, may be raised.
	forbiddenRequeue = 30 * time.Second
	// minimumAge is the least age of a finished Pod that is replaced: a Pod that ends at once must not be created again
	// without a pause.
	minimumAge = 10 * time.Second
	// startLimit is how long the state Starting is withheld from the status.
	startLimit = 2 * time.Second
)

// scope is the state of one reconcile of an Instance.
type scope struct {
	*Reconciler
	pace.Runner
	observed
	// deployment of the Instance; nil if it is deleted.
	deployment *v1alpha.WorkloadDeployment
}

// Reconcile keeps the Pod and the status of one Instance.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r, observed: observed{instance: &v1alpha.Instance{}}}
	if err := r.Client.Get(ctx, request.NamespacedName, s.instance); err != nil {
		r.Passing.Done(request.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if s.Settings.External(&s.instance.Spec) {
		// A Pod that was started before the class was assigned to another runtime stays unchanged until it is replaced.
		if err := s.findPod(ctx); err != nil {
			return reconcile.Result{}, err
		}
		if s.pod == nil {
			return s.Run(ctx, s.findDeployment, s.liftGates, s.writeGates)
		}
	}
	return s.Run(ctx, s.findDeployment, s.liftGates, s.findSuspension, s.findPod, s.findEviction, s.stopPod, s.releaseLostPod,
		s.deleteFinishedPod, s.createPod, s.findData, s.findProbeError, s.recordReady, s.expectAvailable, s.protectPod, s.writeStatus)
}

// findDeployment gets the WorkloadDeployment of the Instance.
func (s *scope) findDeployment(ctx context.Context) (err error) {
	s.deployment, err = owned.Deployment(ctx, s.Client, s.instance)
	if collector.IsOrphan(s.instance) {
		s.blocked = &finding{
			v1alpha.ReasonConfigurationError,
			"no WorkloadDeployment controls the Instance, so that it does not start; the agent deletes it unless its WorkloadDeployment adopts it",
		}
	}
	return err
}

// liftGates determines the requirements that the Instance waits for, and lifts the gates whose requirements are met. If
// the Instance is being deleted, or its deployment is not as the hub has sent it, the last finding stays.
func (s *scope) liftGates(ctx context.Context) (err error) {
	if s.deployment == nil || !s.instance.DeletionTimestamp.IsZero() {
		s.found = keptGates(s.instance)
		return nil
	}
	if refused := templates.RefusalOf(s.deployment); refused.Any() {
		s.found = keptGates(s.instance)
		return nil
	}
	if s.found, err = findGates(ctx, s.Client, s.deployment, s.instance); err != nil {
		return err
	}
	if err := s.compareData(ctx); err != nil {
		return err
	}
	left, lifted := gatesLeft(s.deployment, s.instance, s.found)
	if !lifted {
		return nil
	}
	before := s.instance.DeepCopy()
	s.instance.Spec.Controller.SchedulingGates = left
	// The patch replaces the whole list: the lock keeps it from setting a gate again that was lifted meanwhile.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, s.instance, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("lift scheduling gates of Instance %s: %w", client.ObjectKeyFromObject(s.instance), err)
	}
	return nil
}

// writeGates reports the open gates of an Instance run by another runtime, when they change. That runtime owns the rest
// of the status.
func (s *scope) writeGates(ctx context.Context) error {
	existing := s.instance.Status.Conditions
	wanted := apply.StampedConditions(existing, apply.Stamp{Generation: s.instance.Generation, Now: s.Clock.Now()}, s.found...)
	if s.deployment == nil || !s.instance.DeletionTimestamp.IsZero() || apply.IncludeConditions(existing, wanted) {
		return nil
	}
	return s.applyStatus(ctx, v1alpha.InstanceStatus{Conditions: wanted})
}

func (s *scope) applyStatus(ctx context.Context, status v1alpha.InstanceStatus) error {
	return apply.Status(ctx, s.Client, FieldManager, &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.instance.Namespace, Name: s.instance.Name, ResourceVersion: s.instance.ResourceVersion},
		Status:     status,
	})
}

// findPod gets the Pod that the Instance controls. A Pod of an earlier Instance of the same name is not its Pod.
func (s *scope) findPod(ctx context.Context) error {
	pod := &corev1.Pod{}
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(s.instance), pod); err != nil {
		return client.IgnoreNotFound(err)
	}
	if metav1.IsControlledBy(pod, s.instance) {
		s.pod = pod
	}
	return nil
}

// deleteFinishedPod deletes a Pod that has ended. The event of its deletion requeues the Instance, for which a new Pod
// is created then.
func (s *scope) deleteFinishedPod(ctx context.Context) error {
	if s.pod == nil || s.suspended || !finished(s.pod) || !s.pod.DeletionTimestamp.IsZero() || !s.instance.DeletionTimestamp.IsZero() {
		return nil
	}
	if remaining := minimumAge - s.Clock.Since(s.pod.CreationTimestamp.Time); remaining > 0 {
		s.RequeueAfter.AtMost(remaining)
		return nil
	}
	if err := s.Client.Delete(ctx, s.pod, client.Preconditions{UID: &s.pod.UID}); err != nil {
		return fmt.Errorf("delete the finished Pod %s: %w", client.ObjectKeyFromObject(s.pod), err)
	}
	log.FromContext(ctx).Info("Deleted a finished Pod", "phase", s.pod.Status.Phase)
	return nil
}

// createPod creates the missing Pod of an Instance that neither a scheduling gate nor a suspension of the project
// holds.
func (s *scope) createPod(ctx context.Context) error {
	if s.pod != nil || s.suspended || s.blocked != nil || !s.instance.DeletionTimestamp.IsZero() || len(s.instance.SchedulingGates()) > 0 {
		return nil
	}
	if current, err := s.confirmTemplate(ctx); err != nil || !current {
		s.RequeueAfter.AtMost(goneRequeue)
		return err
	}
	pod, err := s.preparePod(ctx)
	if err != nil || pod == nil {
		return err
	}
	return s.claimPod(ctx, pod)
}

// claimPod creates a Pod under the name of the Instance, unless another Pod has the name.
func (s *scope) claimPod(ctx context.Context, pod *corev1.Pod) error {
	holder, refused, err := apply.Claim(ctx, s.Client, s.APIReader, FieldManager, pod)
	switch {
	case holder != nil:
		return s.identifyHolder(ctx, holder)
	case errors.Is(err, apply.ErrGone):
		s.RequeueAfter.AtMost(goneRequeue)
	case err != nil:
		return err
	case refused == nil:
		s.pod = pod
	case apierrors.HasStatusCause(refused, corev1.NamespaceTerminatingCause):
		// The Instance is deleted with its namespace.
	default:
		if s.blocked = refusal(refused); s.blocked == nil {
			return fmt.Errorf("create Pod %s: %w", client.ObjectKeyFromObject(pod), refused)
		}
		// Only another template corrects an invalid Pod, and it arrives as another Instance.
		if s.blocked.reason != v1alpha.ReasonConfigurationError {
			s.RequeueAfter.AtMost(forbiddenRequeue)
		}
	}
	return nil
}

// confirmTemplate asks the API server whether an Instance that had a Pod of its template still has that template: the
// Pod may be gone because the Instance was replaced in place, which the cache may lack.
func (s *scope) confirmTemplate(ctx context.Context) (bool, error) {
	if observed := s.instance.Status.Controller; observed == nil || observed.ObservedTemplateHash != s.instance.TemplateHash() {
		return true, nil
	}
	instance := &v1alpha.Instance{}
	if err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(s.instance), instance); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("get Instance %s: %w", client.ObjectKeyFromObject(s.instance), err)
	}
	return instance.UID == s.instance.UID && instance.Generation == s.instance.Generation, nil
}

// preparePod creates the network policy of the namespace before any Pod exists, and returns the Pod to create; nil if
// no Pod must be created.
func (s *scope) preparePod(ctx context.Context) (*corev1.Pod, error) {
	if s.blocked = s.Settings.unsupported(&s.instance.Spec); s.blocked != nil {
		return nil, nil
	}
	if s.deployment == nil {
		// Without its deployment the Instance is about to go.
		return nil, nil
	}
	if err := isolation.EnsureNamespacePolicy(ctx, s.Client, s.deployment); err != nil {
		return nil, err
	}
	pod := newPod(s.deployment, s.instance, &s.Settings)
	return pod, s.recordData(ctx, pod)
}

// newPod is the Pod of an Instance as it is created.
func newPod(deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance, settings *Settings) *corev1.Pod {
	pod := desiredPod(instance, settings)
	resolveFields(&pod.Spec, instance, deployment)
	if !settings.WithoutSleep {
		leaveFirst(&pod.Spec, deployment.Spec.Service)
	}
	maps.Copy(pod.Labels, isolation.PodLabels(deployment, instance))
	return pod
}

// identifyHolder finds out whose the Pod is that has the name of the Instance's Pod.
func (s *scope) identifyHolder(ctx context.Context, pod *corev1.Pod) error {
	controller, ofInstance := collector.ControllerName(pod, v1alpha.KindInstance)
	switch {
	case metav1.IsControlledBy(pod, s.instance):
		// The cache was out of date.
		s.pod = pod
		return nil
	case !pod.DeletionTimestamp.IsZero() || ofInstance && controller.Name == s.instance.Name || collector.IsOrphan(pod):
		s.blocked = &finding{v1alpha.ReasonProvisioning, "waiting for the Pod of an earlier Instance to end"}
	default:
		s.blocked = &finding{v1alpha.ReasonConfigurationError, fmt.Sprintf("a Pod %s exists that is not of this Instance; delete it", pod.Name)}
	}
	s.RequeueAfter.AtMost(takenRequeue)
	// The garbage collector may have missed that the earlier Instance is gone. A conflict means that the Pod has just
	// changed.
	deleted, err := s.Strays.Pod(ctx, pod)
	if deleted || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		s.RequeueAfter.AtMost(goneRequeue)
	}
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// writeStatus writes the status when it differs, with an Event when a user must act on it.
func (s *scope) writeStatus(ctx context.Context) error {
	s.expectStop()
	status := desiredStatus(&s.observed, apply.Stamp{Generation: s.instance.Generation, Now: s.Clock.Now()})
	key := client.ObjectKeyFromObject(s.instance)
	if sameStatus(&s.instance.Status, &status) {
		s.Passing.Done(key)
		return nil
	}
	if s.passing(&status) {
		if wait := s.Passing.WaitAtMost(key, s.patience()); wait > 0 {
			s.RequeueAfter.AtMost(wait)
			return nil
		}
	}
	if err := s.applyStatus(ctx, status); err != nil {
		return err
	}
	s.Passing.Done(key)
	s.recordTrouble(&status)
	return nil
}

// expectStop requeues the Instance for when its Pod must have stopped: no event reports that a node does not stop it.
func (s *scope) expectStop() {
	if s.pod == nil || s.pod.DeletionTimestamp.IsZero() {
		return
	}
	if remaining := s.pod.DeletionTimestamp.Add(lostAfter).Sub(s.Clock.Now()); remaining > 0 {
		s.RequeueAfter.AtMost(remaining)
	}
}

// expectAvailable sets how long the Pod must be ready, and requeues the Instance for when it has been: no event reports
// that.
func (s *scope) expectAvailable(context.Context) error {
	if s.deployment != nil {
		s.minReady = s.deployment.Spec.MinReady(&s.instance.Spec)
	}
	s.now = s.Clock.Now()
	if remaining := s.untilAvailable(); remaining > 0 {
		s.RequeueAfter.AtMost(remaining)
	}
	return nil
}

// passing reports whether a status is the transient state of a starting Instance: it was not Ready with its template,
// and no user has to act.
func (s *scope) passing(after *v1alpha.InstanceStatus) bool {
	ready := meta.FindStatusCondition(after.Conditions, v1alpha.ConditionReady)
	return (!meta.IsStatusConditionTrue(s.instance.Status.Conditions, v1alpha.ConditionReady) || owned.Superseded(s.instance)) &&
		slices.Contains([]string{v1alpha.ReasonProvisioning, v1alpha.ReasonUnschedulable, v1alpha.ReasonSchedulingGatesPresent}, ready.Reason)
}

// patience is the time for which the state of a starting Instance waits for Ready. It is longer if only the Pod is not
// ready, which usually takes seconds: then Ready is the only state that is ever written.
func (s *scope) patience() time.Duration {
	if s.pod == nil || podCondition(s.pod, corev1.PodScheduled).Status == corev1.ConditionFalse {
		return pace.Limit
	}
	return startLimit
}

// eventClock is the reason of the Event about a node whose clock is off.
const eventClock = "NodeClockOff"

// inCrashLoop are reasons of Ready that change every few seconds while containers restart.
var inCrashLoop = []string{v1alpha.ReasonInstanceCrashing, v1alpha.ReasonOOMKilled, v1alpha.ReasonProbeFailing}

// isRecorded reports whether a reason of Ready is recorded as an Event: it requires an action at once.
func isRecorded(reason string) bool {
	remedy, known := reasons.Of(v1alpha.ConditionReady, reason)
	return known && remedy.Rank == reasons.RankCause && remedy.Normal == 0 && !slices.Contains(inCrashLoop, reason)
}

// recordTrouble records an Event when the reason of Ready becomes one that a user must act on.
func (s *scope) recordTrouble(status *v1alpha.InstanceStatus) {
	if clock, known := s.clockOff(), meta.FindStatusCondition(s.instance.Status.Conditions, v1alpha.ConditionAvailable); clock != "" &&
		(known == nil || !strings.Contains(known.Message, clock)) {
		s.Recorder.Event(s.instance, corev1.EventTypeWarning, eventClock, clock)
	}
	before := meta.FindStatusCondition(s.instance.Status.Conditions, v1alpha.ConditionReady)
	now := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionReady)
	if before != nil && before.Reason == now.Reason {
		return
	}
	if isRecorded(now.Reason) {
		s.Recorder.Eventf(s.instance, corev1.EventTypeWarning, now.Reason, "%s", now.Message)
	}
}
