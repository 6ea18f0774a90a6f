// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/hub/bindings"
	"github.com/karmada-compute/karmada-compute/hub/delivery"
	"github.com/karmada-compute/karmada-compute/requeue"
)

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	request    mcreconcile.Request
	cluster    cluster.Cluster
	project    client.Client
	deployment *v1alpha.WorkloadDeployment
	// copied is the deployment on the hub.
	copied *v1alpha.WorkloadDeployment
	// existing are the projected Instances of the deployment, by name.
	existing map[string]*v1alpha.Instance
	// reported are the Instances that its cells report.
	reported []v1alpha.ReportedInstance
	// way is that of the copy through Karmada, and findings are what makes untrue what its status says.
	way      *delivery.Way
	findings []delivery.Finding
	// dropped says that the cells which reported are gone for good.
	dropped      bool
	requeueAfter requeue.After
}

// Reconcile writes what the cells report of a WorkloadDeployment into its project.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	engaged, err := r.Projects.Get(ctx, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := &scope{Reconciler: r, request: request, cluster: engaged, project: engaged.GetClient(), deployment: &v1alpha.WorkloadDeployment{}, copied: &v1alpha.WorkloadDeployment{}}
	found, err := s.load(ctx, request.NamespacedName)
	if err != nil || !found {
		r.tracker.Observe(request, nil)
		r.Ready.forget(request.ClusterName, request.NamespacedName)
		return reconcile.Result{}, err
	}
	for _, step := range []func(context.Context) error{s.judge, s.dropGone, s.applyInstances, s.deleteSurplus, s.writeStatus} {
		if err := step(ctx); err != nil {
			return reconcile.Result{}, err
		}
	}
	return s.requeueAfter.Result(), nil
}

// load reads the original, the copy and the projected Instances. It is false when there is nothing to project: the original
// does not exist or is being deleted (its Instances go with it), or the hub has no copy of this very original.
func (s *scope) load(ctx context.Context, name types.NamespacedName) (bool, error) {
	if err := s.project.Get(ctx, name, s.deployment); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	hubNamespace := s.deployment.Annotations[v1alpha.AnnotationHubNamespace]
	if hubNamespace == "" || !s.deployment.DeletionTimestamp.IsZero() {
		return false, nil
	}
	if err := s.Hub.Get(ctx, types.NamespacedName{Namespace: hubNamespace, Name: name.Name}, s.copied); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if s.copied.Labels[v1alpha.LabelDeploymentUID] != string(s.deployment.UID) {
		return false, nil
	}
	s.reported = s.copied.ReportedInstances()
	var instances v1alpha.InstanceList
	if err := s.project.List(ctx, &instances, client.InNamespace(name.Namespace),
		client.MatchingLabels{v1alpha.LabelDeploymentUID: string(s.deployment.UID)}); err != nil {
		return false, fmt.Errorf("list the projected Instances: %w", err)
	}
	s.existing = make(map[string]*v1alpha.Instance, len(instances.Items))
	for i := range instances.Items {
		s.existing[instances.Items[i].Name] = &instances.Items[i]
	}
	return true, nil
}

func (s *scope) applyInstances(ctx context.Context) error {
	if !s.hasReport() && !s.dropped {
		return s.doubtInstances(ctx)
	}
	hash, err := v1alpha.TemplateHash(&s.deployment.Spec.Template)
	if err != nil {
		return err
	}
	for i := range s.reported {
		if err := s.applyInstance(ctx, &s.reported[i], hash); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) applyInstance(ctx context.Context, reported *v1alpha.ReportedInstance, hash string) error {
	existing := s.existing[reported.Name]
	if existing == nil {
		existing = &v1alpha.Instance{}
	}
	if !existing.DeletionTimestamp.IsZero() {
		// When it is gone, its event requeues the deployment, which then projects it again.
		return nil
	}
	stored, err := apply.Exact(ctx, s.project, FieldManager, existing, s.desiredInstance(reported, existing, hash))
	if err != nil {
		return err
	}
	status := desiredInstanceStatus(reported, stored.Generation)
	status.Conditions = s.doubted(reported.Name, status.Conditions, stored.Generation)
	if equality.Semantic.DeepEqual(stored.Status, status) {
		return nil
	}
	stored.Status = status
	return apply.Status(ctx, s.project, FieldManager, stored)
}

// deleteSurplus deletes the projections of Instances that no cell reports any more.
func (s *scope) deleteSurplus(ctx context.Context) error {
	if !s.hasReport() && !s.dropped {
		return nil
	}
	reported := make(map[string]bool, len(s.reported))
	for i := range s.reported {
		reported[s.reported[i].Name] = true
	}
	for name, existing := range s.existing {
		if reported[name] || !existing.DeletionTimestamp.IsZero() {
			continue
		}
		if err := s.project.Delete(ctx, existing, client.Preconditions{UID: &existing.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete the projection of Instance %s: %w", name, err)
		}
	}
	return nil
}

func (s *scope) writeStatus(ctx context.Context) error {
	served := len(s.way.Cells.Of(s.deployment.Spec.CityCode)) > 0
	status := s.desiredStatus(served, bindings.Refusal(s.way.Binding))
	s.doubt(&status)
	s.addCurrent(&status)
	s.addSuspension(&status)
	read := *s.deployment.Status.DeepCopy()
	read.Conditions = withoutForeign(read.Conditions)
	if !equality.Semantic.DeepEqual(read, status) {
		s.deployment.Status = status
		if err := apply.Status(ctx, s.project, FieldManager, s.deployment); err != nil {
			return err
		}
	}
	s.Ready.observe(ctx, s, read)
	return nil
}
