// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/data"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

const (
	// takenRetry is when a name that is taken is tried again. Most often the cache is just behind and an event comes
	// first; this is for a name that somebody else has.
	takenRetry = 5 * time.Second
	// forbiddenRetry is when an Instance is tried again that the cell forbids: what forbids it may be lifted.
	forbiddenRetry = time.Minute
	// batch is how many Instances are made or removed in one look, which has a time limit. The events of these bring
	// the deployment back here for the rest.
	batch = 50
	// maxNote is the longest that the note of an Event may be, in bytes.
	maxNote = 1000
)

// Reconcile looks at one WorkloadDeployment.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	deployment := &v1alpha.WorkloadDeployment{}
	if err := r.Client.Get(ctx, request.NamespacedName, deployment); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !deployment.DeletionTimestamp.IsZero() {
		// Its Instances and their Pods go with it, by their owner references.
		return reconcile.Result{}, nil
	}
	hash, err := v1alpha.TemplateHash(&deployment.Spec.Template)
	if err != nil {
		return reconcile.Result{}, err
	}
	instances, err := owned.Instances(ctx, r.Client, deployment)
	if err != nil {
		return reconcile.Result{}, err
	}
	needed, _ := data.Needed(&deployment.Spec.Template.Spec)
	missing, err := data.Missing(ctx, r.Client, deployment.Namespace, needed)
	if err != nil {
		return reconcile.Result{}, err
	}
	todo := makePlan(newTarget(deployment, hash, len(missing) == 0), instances)
	for _, instance := range todo.remove[:min(len(todo.remove), batch)] {
		if err := r.remove(ctx, instance, hash); err != nil {
			return reconcile.Result{}, err
		}
	}
	return r.createAll(ctx, deployment, todo.create[:min(len(todo.create), batch)], hash)
}

// remove deletes an Instance after its Pod, so that its name is free only when nothing of it runs any more.
func (r *Reconciler) remove(ctx context.Context, instance *v1alpha.Instance, hash string) error {
	err := r.Client.Delete(ctx, instance,
		client.PropagationPolicy(metav1.DeletePropagationForeground),
		client.Preconditions{UID: &instance.UID})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// It is gone, or another one by now; the cache will show it.
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete Instance %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	log.FromContext(ctx).Info("Deleted Instance", "instance", instance.Name, "template", owned.TemplateHash(instance), "wanted", hash)
	return nil
}

func (r *Reconciler) createAll(ctx context.Context, deployment *v1alpha.WorkloadDeployment, indices []int, hash string) (reconcile.Result, error) {
	var result reconcile.Result
	for _, index := range indices {
		retry, err := r.create(ctx, deployment, desiredInstance(deployment, index, hash))
		if err != nil {
			return reconcile.Result{}, err
		}
		if retry > 0 && (result.RequeueAfter == 0 || retry < result.RequeueAfter) {
			result.RequeueAfter = retry
		}
	}
	return result, nil
}

// create makes an Instance. It returns when to try again what did not work and is no error, or 0.
func (r *Reconciler) create(ctx context.Context, deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) (time.Duration, error) {
	err := r.Client.Create(ctx, instance, client.FieldOwner(Owner))
	switch {
	case err == nil:
		log.FromContext(ctx).Info("Created Instance", "instance", instance.Name, "template", owned.TemplateHash(instance))
		return 0, nil
	case apierrors.IsAlreadyExists(err):
		return takenRetry, nil
	case apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The namespace goes away, and the deployment with it.
		return 0, nil
	case apierrors.IsInvalid(err):
		// Only another template can clear this; its coming brings the deployment back here.
		r.tellOfRefusal(ctx, deployment, instance, err)
		return 0, nil
	case apierrors.IsForbidden(err):
		r.tellOfRefusal(ctx, deployment, instance, err)
		return forbiddenRetry, nil
	}
	return 0, fmt.Errorf("create Instance %s: %w", client.ObjectKeyFromObject(instance), err)
}

func (r *Reconciler) tellOfRefusal(ctx context.Context, deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance, refusal error) {
	log.FromContext(ctx).Info("The cell refuses an Instance", "instance", instance.Name, "refusal", refusal.Error())
	note := refusal.Error()
	r.Recorder.Eventf(deployment, nil, corev1.EventTypeWarning, "InstanceRefused", "Create",
		"Instance %s: %s", instance.Name, note[:min(len(note), maxNote-len(instance.Name))])
}
