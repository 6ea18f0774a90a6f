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
	"github.com/karmada-compute/karmada-compute/cell/steps"
)

const (
	// takenRequeue is when an Instance whose name is taken is created again. Most often the cache is just behind and an
	// event comes first; the requeue is for a name that an object of somebody else has.
	takenRequeue = 5 * time.Second
	// forbiddenRequeue is when an Instance that the cell forbids is created again: a ResourceQuota, for example, may be
	// raised.
	forbiddenRequeue = time.Minute
	// batch is how many Instances one reconcile creates or deletes at most, since its time is limited. Their events
	// requeue the deployment for the rest.
	batch = 50
	// maxNote is the longest note of an Event, in bytes.
	maxNote = 1024
)

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	steps.Runner
	deployment *v1alpha.WorkloadDeployment
	// hash of the template.
	hash      string
	instances []v1alpha.Instance
	// missing is the data that the template needs and that is not in the cell.
	missing []v1alpha.DataObject
	plan    plan
}

// Reconcile creates and deletes Instances of one WorkloadDeployment.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r, deployment: &v1alpha.WorkloadDeployment{}}
	if err := r.Client.Get(ctx, request.NamespacedName, s.deployment); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !s.deployment.DeletionTimestamp.IsZero() {
		// Its Instances and their Pods are deleted with it, by their owner references.
		return reconcile.Result{}, nil
	}
	return s.Run(ctx, s.hashTemplate, s.listInstances, s.findMissingData, s.makePlan, s.deleteInstances, s.createInstances)
}

func (s *scope) hashTemplate(context.Context) (err error) {
	s.hash, err = v1alpha.TemplateHash(&s.deployment.Spec.Template)
	return err
}

func (s *scope) listInstances(ctx context.Context) (err error) {
	s.instances, err = owned.Instances(ctx, s.Client, s.deployment)
	return err
}

func (s *scope) findMissingData(ctx context.Context) (err error) {
	needed, _ := v1alpha.DataObjects(&s.deployment.Spec.Template.Spec)
	s.missing, err = data.Missing(ctx, s.Client, s.deployment.Namespace, needed)
	return err
}

func (s *scope) makePlan(context.Context) error {
	s.plan = makePlan(newTarget(s.deployment, s.hash, len(s.missing) == 0), s.instances)
	return nil
}

func (s *scope) deleteInstances(ctx context.Context) error {
	for _, instance := range s.plan.remove[:min(len(s.plan.remove), batch)] {
		// In foreground the Pod goes first, so that the name is free only when nothing of the Instance runs any more.
		if err := s.Client.Delete(ctx, instance, client.PropagationPolicy(metav1.DeletePropagationForeground),
			client.Preconditions{UID: &instance.UID}); err != nil {
			return fmt.Errorf("delete Instance %s: %w", client.ObjectKeyFromObject(instance), err)
		}
		log.FromContext(ctx).Info("Deleted Instance", "instance", instance.Name, "template", instance.TemplateHash(), "wanted", s.hash)
	}
	return nil
}

func (s *scope) createInstances(ctx context.Context) error {
	for _, index := range s.plan.create[:min(len(s.plan.create), batch)] {
		if err := s.createInstance(ctx, desiredInstance(s.deployment, index, s.hash)); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) createInstance(ctx context.Context, instance *v1alpha.Instance) error {
	err := s.Client.Create(ctx, instance, client.FieldOwner(FieldManager))
	switch {
	case err == nil:
		log.FromContext(ctx).Info("Created Instance", "instance", instance.Name, "template", s.hash)
	case apierrors.IsAlreadyExists(err):
		s.RequeueAfter.AtMost(takenRequeue)
		return s.settleHolder(ctx, instance)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The deployment is deleted with its namespace.
	case apierrors.IsInvalid(err):
		// Only another template helps, and its event requeues the deployment.
		s.recordRefusal(ctx, instance, err)
	case apierrors.IsForbidden(err):
		s.recordRefusal(ctx, instance, err)
		s.RequeueAfter.AtMost(forbiddenRequeue)
	default:
		return fmt.Errorf("create Instance %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	return nil
}

// settleHolder adopts or deletes the Instance that has the name of a new one, if its WorkloadDeployment is gone.
func (s *scope) settleHolder(ctx context.Context, wanted *v1alpha.Instance) error {
	holder := &v1alpha.Instance{}
	if err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(wanted), holder); err != nil {
		return fmt.Errorf("get the Instance that has the name %s: %w", client.ObjectKeyFromObject(wanted), err)
	}
	_, err := s.Strays.Instance(ctx, holder)
	return err
}

func (s *scope) recordRefusal(ctx context.Context, instance *v1alpha.Instance, refusal error) {
	log.FromContext(ctx).Info("The cell refused to create an Instance", "instance", instance.Name, "error", refusal.Error())
	note := v1alpha.ShortenMessage(fmt.Sprintf("Instance %s: %v", instance.Name, refusal), maxNote)
	s.Recorder.Eventf(s.deployment, nil, corev1.EventTypeWarning, "InstanceRefused", "Create", "%s", note)
}
