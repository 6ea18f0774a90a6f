// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const (
	// takenRequeue is the time until an Instance whose name is taken is created again. Most often the cache is just behind
	// and an event comes first; the requeue is for a name that another owner's object has.
	takenRequeue = 5 * time.Second
	// changedRequeue is the time until an Instance is removed that the cache did not have as it is.
	changedRequeue = time.Second
	// forbiddenRequeue is the time until an Instance that the cell forbids is created again: a ResourceQuota, for example,
	// may be raised.
	forbiddenRequeue = time.Minute
	// batch is the maximum number of Instances that one reconcile creates or deletes, since its time is limited. The next
	// reconcile follows after batchRequeue.
	batch        = 100
	batchRequeue = 10 * time.Millisecond
	// atOnce is the maximum number of requests of one reconcile in flight.
	atOnce = 16
	// maxNote is the longest note of an Event, in bytes.
	maxNote = 1024
)

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	pace.Runner
	deployment *v1alpha.WorkloadDeployment
	versions   versions
	instances  []v1alpha.Instance
	plan       plan
	// unsupervised is how many Available Instances without a Pod may still be deleted; nil: that is not known yet.
	unsupervised *int

	// mu guards RequeueAfter while Instances are created at once.
	mu sync.Mutex
}

// Reconcile creates, replaces and deletes Instances of one WorkloadDeployment.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r, deployment: &v1alpha.WorkloadDeployment{}}
	if err := r.Client.Get(ctx, request.NamespacedName, s.deployment); err != nil {
		r.created.forget(request.NamespacedName)
		r.stopped.forget(request.NamespacedName)
		r.answers.forget(request.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !s.deployment.DeletionTimestamp.IsZero() {
		// Its Instances and their Pods are deleted with it, by their owner references.
		return reconcile.Result{}, nil
	}
	if proved, err := owned.IsCopy(ctx, r.Client, s.deployment); err != nil || !proved {
		log.FromContext(ctx).Info("The deployment is not proved to be a copy of the hub: it or its namespace lacks the label of the hub; "+
			"nothing is created or deleted", "label", v1alpha.LabelHub, "hub", s.deployment.Labels[v1alpha.LabelHub])
		return reconcile.Result{RequeueAfter: owned.UnprovenRequeue}, err
	}
	return s.Run(ctx, s.listInstances, s.nameTemplates, s.findMissingData, s.makePlan, s.stopEarlierPods, s.removeInstances, s.createInstances)
}

func (s *scope) listInstances(ctx context.Context) (err error) {
	s.instances, err = owned.Instances(ctx, s.Client, s.deployment)
	return err
}

func (s *scope) makePlan(ctx context.Context) error {
	if refused := templates.RefusalOf(s.deployment); refused.Any() {
		// The Instances to run are not known. Running Instances continue.
		log.FromContext(ctx).Info("The deployment is not as the hub has sent it; nothing is created or deleted",
			"missing", refused.Missing, "overridden", refused.Overridden)
		return nil
	}
	s.plan = makePlan(newTarget(s.deployment, &s.versions, s.Clock.Now()), s.instances)
	if remaining := s.plan.again.Result().RequeueAfter; remaining > 0 {
		s.RequeueAfter.AtMost(remaining)
	}
	if floor := s.floor(); floor != nil {
		s.plan.remove = withinFloor(int(floor.MinAvailable), s.instances, s.plan.remove)
	}
	awaited, remaining := s.created.awaited(client.ObjectKeyFromObject(s.deployment), s.instances, s.Clock.Now())
	if remaining > 0 {
		s.RequeueAfter.AtMost(remaining)
	}
	s.plan.create = slices.DeleteFunc(s.plan.create, func(index int) bool {
		_, created := awaited[naming.InstanceName(s.deployment.Name, index)]
		return created
	})
	return nil
}
