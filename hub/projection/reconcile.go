// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	facts
	request mcreconcile.Request
	cluster cluster.Cluster
	project client.Client
	// existing are the projected Instances in the scope of this reconcile, by name. orphans and leftovers are Instances of an earlier
	// deployment: without an owner, and with an owner that is gone or that the cache does not have yet.
	existing  map[string]*v1alpha.Instance
	orphans   []*v1alpha.Instance
	leftovers []*v1alpha.Instance
}

// scopeOf returns the scope of a request for a deployment.
func scopeOf(r *Reconciler, request mcreconcile.Request, engaged cluster.Cluster) *scope {
	return &scope{
		Reconciler: r, request: request, cluster: engaged, project: engaged.GetClient(), existing: map[string]*v1alpha.Instance{},
		facts: facts{now: r.Clock.Now(), deployment: &v1alpha.WorkloadDeployment{}, copied: &v1alpha.WorkloadDeployment{}},
	}
}

// Reconcile writes the cells' report of a WorkloadDeployment into its project, except for the Instances in its slices.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	engaged, err := r.Projects.Get(ctx, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := scopeOf(r, request, engaged)
	found, err := s.load(ctx)
	if err == nil && !found && s.awaitsCopy() {
		r.shared.forget(request)
		err = s.awaitCopy(ctx)
		return s.requeueAfter.Result(), err
	}
	if err != nil || !found {
		r.Book.Observe(request, path.OwnPath, nil)
		r.Ready.forget(request.ClusterName, request.NamespacedName)
		r.shared.forget(request)
		r.Passing.Done(request)
		if err == nil {
			err = s.findOrphans(ctx)
		}
		if err == nil {
			err = s.deleteOrphans(ctx)
		}
		if err == nil {
			err = s.deleteLeftovers(ctx)
		}
		return s.requeueAfter.Result(), err
	}
	s.reported = wire.Instances(s.copied)
	r.Ignored.count(s.copied, s.copied.Status.Reports, allIndices)
	for _, step := range []func(context.Context) error{
		s.judge, s.dropGone, s.loadInstances, s.deleteOrphans, s.deleteLeftovers, s.applyInstances, s.deleteSurplus, s.writeStatus,
	} {
		if err := step(ctx); err != nil {
			return reconcile.Result{}, err
		}
	}
	r.shared.learn(s)
	return s.requeueAfter.Result(), nil
}

// load reads the original and the copy. It returns false if there is nothing to project: the original does not exist or
// is being deleted (its Instances are deleted with it), or the hub has no copy of this very original, and nothing was
// shown of an earlier one.
func (s *scope) load(ctx context.Context) (bool, error) {
	name := s.request.NamespacedName
	if err := s.project.Get(ctx, name, s.deployment); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	hubNamespace := s.deployment.Annotations[v1alpha.AnnotationHubNamespace]
	if hubNamespace == "" || !s.deployment.DeletionTimestamp.IsZero() {
		return false, nil
	}
	copied, err := path.LoadCopy(ctx, s.Hub, s.deployment)
	if s.onHub = copied.Object; err != nil {
		return false, err
	}
	switch {
	case copied.Reports != nil:
		s.copied, s.nowhere = copied.Object, copied.Reports.Nowhere()
		s.recall(copied.Reports)
		return true, nil
	case s.onHub != nil && !path.IsCopy(s.onHub, s.deployment):
		return false, nil
	}
	return s.withoutCopy(hubNamespace), nil
}

// loadInstances reads the projected Instances whose entries are in the status of the copy. It reads all projected
// Instances if slices may have been deleted unseen, and while some are left of an earlier deployment.
func (s *scope) loadInstances(ctx context.Context) error {
	if s.shared.knows(s) && !s.shared.hasLeftovers(s) {
		return s.getInstances(ctx, v1alpha.IndexRange{First: 0, Last: naming.InlineInstances - 1})
	}
	instances, err := s.listInstances(ctx)
	for i := range instances {
		s.sort(&instances[i])
	}
	return err
}

// sort adds an Instance to existing, orphans or leftovers.
func (s *scope) sort(instance *v1alpha.Instance) {
	switch {
	case instance.Labels[v1alpha.LabelDeploymentUID] == string(s.deployment.UID):
		s.existing[instance.Name] = instance
	case len(instance.OwnerReferences) == 0:
		s.orphans = append(s.orphans, instance)
	case instance.DeletionTimestamp.IsZero():
		s.leftovers = append(s.leftovers, instance)
	}
}

// listInstances reads the projected Instances of all deployments of this name.
func (s *scope) listInstances(ctx context.Context) ([]v1alpha.Instance, error) {
	var instances v1alpha.InstanceList
	if err := s.project.List(ctx, &instances, client.InNamespace(s.request.Namespace), byDeployment.Value(s.request.Name)); err != nil {
		return nil, fmt.Errorf("list the projected Instances: %w", err)
	}
	return instances.Items, nil
}

// getInstances reads the projected Instances with these indices.
func (s *scope) getInstances(ctx context.Context, within v1alpha.IndexRange) error {
	for index := within.First; index <= within.Last; index++ {
		instance := &v1alpha.Instance{}
		key := types.NamespacedName{Namespace: s.deployment.Namespace, Name: naming.InstanceName(s.deployment.Name, int(index))}
		switch err := s.project.Get(ctx, key, instance); {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("get the projection of Instance %s: %w", key.Name, err)
		default:
			s.sort(instance)
		}
	}
	return nil
}

func (s *scope) applyInstances(ctx context.Context) error {
	if !s.hasReport() && !s.dropped {
		for _, existing := range s.existing {
			if err := s.doubtInstance(ctx, existing); err != nil {
				return err
			}
		}
		return nil
	}
	return s.applyReported(ctx)
}

func (s *scope) applyReported(ctx context.Context) error {
	version, err := templates.VersionOf(&s.deployment.Spec.Template)
	if err != nil {
		return err
	}
	for i := range s.reported {
		reported := &s.reported[i]
		reported.TemplateHash = version.Current(reported.TemplateHash)
		reported.ObservedTemplateHash = version.Current(reported.ObservedTemplateHash)
		if err := s.applyInstance(ctx, reported, version.Hash); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) applyInstance(ctx context.Context, reported *wire.Instance, hash string) error {
	existing := s.existing[reported.Name]
	if existing == nil {
		if !s.isAssigned(reported.Name) {
			return nil
		}
		existing = &v1alpha.Instance{}
	}
	if !existing.DeletionTimestamp.IsZero() {
		// The deletion event of the old Instance requeues the deployment, which then projects it again.
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
	before := stored.Status.Conditions
	stored.Status = status
	if err := apply.Status(ctx, s.project, FieldManager, stored); err != nil {
		return err
	}
	s.measureLag(before, status.Conditions)
	return nil
}

// isAssigned reports whether the index of an Instance is assigned to a cell, or to be released by one. Other indices are
// of Instances that are being deleted: the project has them already, or the cell has invented them.
func (s *facts) isAssigned(instance string) bool {
	assignment := s.copied.Spec.Assignment
	index, _ := naming.InstanceIndex(s.deployment.Name, instance)
	return assignment == nil || assignment.Owner(index) != "" || assignment.Releaser(index) != ""
}

// deleteSurplus deletes the projections of Instances that no cell reports any more, except for Instances in slices.
func (s *scope) deleteSurplus(ctx context.Context) error {
	if !s.hasReport() && !s.dropped {
		return nil
	}
	facts := sync.OnceValue(func() map[int]wire.Facts { return wire.FactsOf(s.copied) })
	return s.deleteUnreported(ctx, func(index int) bool {
		if s.isRecalled(index) {
			return false
		}
		number, sliced := naming.SliceOf(index)
		if !sliced || s.dropped {
			return true
		}
		_, exists := facts()[index]
		return !exists && number >= int(s.copied.Spec.Slices)
	})
}

// deleteUnreported deletes the projections of Instances that are not reported, if gone is true for their indices. The state
// of the others is unknown if the path from their cell is broken.
func (s *scope) deleteUnreported(ctx context.Context, gone func(index int) bool) error {
	reported := make(map[string]bool, len(s.reported))
	for i := range s.reported {
		reported[s.reported[i].Name] = true
	}
	for name, existing := range s.existing {
		if reported[name] || !existing.DeletionTimestamp.IsZero() {
			continue
		}
		if index, _ := naming.InstanceIndex(s.deployment.Name, name); !gone(index) {
			if err := s.doubtInstance(ctx, existing); err != nil {
				return err
			}
			continue
		}
		if err := deleteInstance(ctx, s.project, existing); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) writeStatus(ctx context.Context) error {
	served := len(s.row.Cells.Of(s.deployment.Spec.CityCode)) > 0
	status := s.desiredStatus(served, path.Refusal(s.row.Binding))
	s.doubt(&status)
	if err := s.addUpdated(&status); err != nil {
		return err
	}
	s.addCurrent(&status)
	s.addSuspension(&status)
	s.addProgress(&status)
	s.addFloor(&status)
	s.addEndpoints(&status)
	read := *s.deployment.Status.DeepCopy()
	read.Conditions = withoutForeign(read.Conditions)
	if !equality.Semantic.DeepEqual(read, status) {
		if mayWait(&read, &status) {
			if wait := s.Passing.Wait(s.request); wait > 0 {
				s.requeueAfter.AtMost(wait)
				return nil
			}
		}
		s.deployment.Status = status
		if err := apply.Status(ctx, s.project, FieldManager, s.deployment); err != nil {
			return err
		}
	}
	s.Passing.Done(s.request)
	s.Ready.observe(s, read)
	return nil
}

// mayWait reports whether a status write may wait for the next one.
func mayWait(before, after *v1alpha.WorkloadDeploymentStatus) bool {
	return !floorChanged(before, after) && !cities.ServingChanged(before.Endpoints, after.Endpoints) &&
		wire.Passing(before.ReplicaCounts, after.ReplicaCounts, before.Conditions, after.Conditions)
}
