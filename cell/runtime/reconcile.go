// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/cell/conditions"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

const (
	// takenRetry is when a name is tried again that a Pod has which is not the Instance's. Its end brings the
	// Instance back here only when an Instance of this name owned it.
	takenRetry = 10 * time.Second
	// forbiddenRetry is when a Pod is tried again that the cell forbids, for example by a ResourceQuota: what forbids
	// it may be lifted.
	forbiddenRetry = 30 * time.Second
	// minimumLife is how old a Pod is at least before one that has ended is replaced: a Pod that ends at once must not
	// be made anew without pause.
	minimumLife = 10 * time.Second
)

// pass is one look at one Instance.
type pass struct {
	*Reconciler
	observed
	// retry is when to look again without an event; 0: never.
	retry time.Duration
}

// Reconcile looks at one Instance.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	p := &pass{Reconciler: r, observed: observed{instance: &v1alpha.Instance{}}}
	if err := r.Client.Get(ctx, request.NamespacedName, p.instance); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	for _, step := range []func(context.Context) error{p.findPod, p.replaceFinished, p.createPod, p.report} {
		if err := step(ctx); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{RequeueAfter: p.retry}, nil
}

// findPod looks for the Instance's own Pod. One of an Instance that had the same name is not it.
func (p *pass) findPod(ctx context.Context) error {
	pod := &corev1.Pod{}
	if err := p.Client.Get(ctx, client.ObjectKeyFromObject(p.instance), pod); err != nil {
		return client.IgnoreNotFound(err)
	}
	if metav1.IsControlledBy(pod, p.instance) {
		p.pod = pod
	}
	return nil
}

// replaceFinished removes a Pod that has ended; its end brings the Instance back here, and a new one is made.
func (p *pass) replaceFinished(ctx context.Context) error {
	if p.pod == nil || !finished(p.pod) || !p.pod.DeletionTimestamp.IsZero() || !p.instance.DeletionTimestamp.IsZero() {
		return nil
	}
	if rest := minimumLife - p.Clock.Since(p.pod.CreationTimestamp.Time); rest > 0 {
		p.retry = rest
		return nil
	}
	err := p.Client.Delete(ctx, p.pod, client.Preconditions{UID: &p.pod.UID})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete the ended Pod %s: %w", client.ObjectKeyFromObject(p.pod), err)
	}
	log.FromContext(ctx).Info("Deleted a Pod that has ended", "phase", p.pod.Status.Phase)
	return nil
}

// createPod makes the Pod where there should be one and is none.
func (p *pass) createPod(ctx context.Context) error {
	if p.pod != nil || !p.instance.DeletionTimestamp.IsZero() || len(owned.Gates(p.instance)) > 0 {
		return nil
	}
	if message := unsupported(&p.instance.Spec); message != "" {
		p.blocked = &finding{v1alpha.ReasonConfigurationError, message}
		return nil
	}
	pod := desiredPod(p.instance)
	err := p.Client.Create(ctx, pod, client.FieldOwner(Owner))
	switch {
	case err == nil:
		p.pod = pod
	case apierrors.IsAlreadyExists(err):
		return p.findHolder(ctx)
	case apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The namespace goes away, and the Instance with it.
	case apierrors.IsInvalid(err):
		// Only another template can clear this, and that comes as another Instance.
		p.blocked = &finding{v1alpha.ReasonConfigurationError, "the cell refuses the Pod: " + err.Error()}
	case apierrors.IsForbidden(err):
		p.blocked = &finding{v1alpha.ReasonConfigurationError, "the cell refuses the Pod: " + err.Error()}
		p.retry = forbiddenRetry
	default:
		return fmt.Errorf("create Pod %s: %w", client.ObjectKeyFromObject(pod), err)
	}
	return nil
}

// findHolder looks who has the name of the Instance's Pod.
func (p *pass) findHolder(ctx context.Context) error {
	pod := &corev1.Pod{}
	if err := p.Live.Get(ctx, client.ObjectKeyFromObject(p.instance), pod); err != nil {
		if apierrors.IsNotFound(err) {
			p.retry = time.Second
			return nil
		}
		return fmt.Errorf("get the Pod that has the name of Instance %s: %w", client.ObjectKeyFromObject(p.instance), err)
	}
	controller := metav1.GetControllerOfNoCopy(pod)
	switch {
	case metav1.IsControlledBy(pod, p.instance):
		p.pod = pod
		return nil
	case !pod.DeletionTimestamp.IsZero() || (controller != nil && controller.Kind == "Instance" && controller.Name == p.instance.Name):
		p.blocked = &finding{v1alpha.ReasonProvisioning, "waiting for the Pod of an earlier Instance to end"}
	default:
		p.blocked = &finding{v1alpha.ReasonConfigurationError, fmt.Sprintf("a Pod %s exists that is not of this Instance; delete it", pod.Name)}
	}
	p.retry = takenRetry
	return nil
}

// report writes the status when it differs, and tells of what a user must act on when it begins.
func (p *pass) report(ctx context.Context) error {
	status := desiredStatus(&p.observed, conditions.Stamp{Generation: p.instance.Generation, Now: p.Clock.Now()})
	if sameStatus(&p.instance.Status, &status) {
		return nil
	}
	p.tell(&status)
	err := apply.Status(ctx, p.Client, Owner, &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.instance.Namespace, Name: p.instance.Name, UID: p.instance.UID},
		Status:     status,
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// The Instance is gone, or is another one by now; the cache will show it.
		return nil
	}
	return err
}

func (p *pass) tell(status *v1alpha.InstanceStatus) {
	before := meta.FindStatusCondition(p.instance.Status.Conditions, v1alpha.ConditionReady)
	now := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionReady)
	if before != nil && before.Reason == now.Reason {
		return
	}
	if now.Reason == v1alpha.ReasonConfigurationError || now.Reason == v1alpha.ReasonImageUnavailable {
		p.Recorder.Eventf(p.instance, nil, corev1.EventTypeWarning, now.Reason, "Run", "%s", now.Message)
	}
}
