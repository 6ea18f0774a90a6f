// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Reconcile writes the deployments that a Workload requests, and summarizes their status in the Workload's.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := projects.Find(ctx, r.Projects, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := &scope{
		Reconciler: r,
		request:    request,
		client:     project.GetClient(),
		events:     project.Recorder(string(FieldManager)),
		workload:   &v1alpha.Workload{},
		project:    project,
	}
	steps, err := s.load(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	for _, step := range steps {
		if err := step(ctx); err != nil || s.rewritten {
			return s.requeueAfter.Result(), err
		}
	}
	return s.requeueAfter.Result(), nil
}

// load reads the Workload and its deployments, and returns the steps to take.
func (s *scope) load(ctx context.Context) (steps []func(context.Context) error, err error) {
	err = s.client.Get(ctx, s.request.NamespacedName, s.workload)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get the Workload: %w", err)
	}
	if err := s.loadDeployments(ctx); err != nil {
		return nil, err
	}
	switch {
	case s.workload.UID == "":
		s.Passing.Done(s.request)
		s.finalizers.arrived(s.request)
		return []func(context.Context) error{s.deleteOrphans}, nil
	case !s.workload.DeletionTimestamp.IsZero():
		return []func(context.Context) error{s.deleteAll, s.reportDeletion, s.deleteOrphans, s.removeFinalizer}, nil
	}
	return []func(context.Context) error{
		s.deleteOrphans, s.findExposure, s.chooseTemplate, s.makePlan, s.findType, s.recordSizes, s.findNetworks, s.recordRevision, s.rollOut,
		s.divideBudget, s.withdrawExposure, s.applyDeployments, s.ensureFinalizer, s.deleteSurplus, s.writeStatus,
	}, nil
}

// loadDeployments reads the deployments of Workloads of this name.
func (s *scope) loadDeployments(ctx context.Context) error {
	var list v1alpha.WorkloadDeploymentList
	if err := s.client.List(ctx, &list, client.InNamespace(s.request.Namespace), byWorkload.Value(s.request.Name)); err != nil {
		return fmt.Errorf("list the Workload's deployments: %w", err)
	}
	s.existing = make(map[string]*v1alpha.WorkloadDeployment, len(list.Items))
	for i := range list.Items {
		switch deployment := &list.Items[i]; {
		case s.workload.UID != "" && deployment.Labels[v1alpha.LabelWorkloadUID] == string(s.workload.UID):
			s.existing[deployment.Name] = deployment
		case deployment.DeletionTimestamp.IsZero():
			s.orphans = append(s.orphans, deployment)
		}
	}
	return nil
}

func (s *scope) makePlan(ctx context.Context) error {
	locations, err := s.Locations.List(ctx, s.client)
	notServed := errors.Is(err, cities.ErrLocationsNotServed)
	if err != nil && !notServed {
		return err
	}
	// Without any location, running deployments remain, and none is started.
	s.plan = makePlan(s.workload, locations, s.existing)
	if notServed {
		s.plan.explain(err)
	}
	s.nameRoutes()
	return nil
}

func (s *scope) applyDeployments(ctx context.Context) error {
	for _, desired := range s.plan.deployments {
		if err := s.applyDeployment(ctx, desired); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) applyDeployment(ctx context.Context, desired *v1alpha.WorkloadDeployment) error {
	existing := &v1alpha.WorkloadDeployment{}
	switch err := s.client.Get(ctx, client.ObjectKeyFromObject(desired), existing); {
	case apierrors.IsNotFound(err):
		if s.isHeld() {
			return nil
		}
		if err := s.prepareForHub(ctx, desired); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("get deployment %s: %w", desired.Name, err)
	case !sameDeployment(existing, desired):
		s.plan.block(desired, fmt.Sprintf("deployment name %s is taken by placement %q in %s of Workload %q; rename the placement",
			desired.Name, existing.Spec.PlacementName, existing.Spec.CityCode, existing.Spec.WorkloadRef.Name))
		return nil
	case !existing.DeletionTimestamp.IsZero():
		// The deletion event requeues the Workload, which then gets a new deployment.
		return nil
	default:
		if err := s.offerOrDrain(ctx, existing, desired); err != nil {
			return err
		}
		keepForHub(existing, desired)
		newestFloor(existing, desired)
		keepService(existing, desired)
	}
	s.keepExposure(existing, desired)
	if s.isHeld() {
		// Running Instances are not replaced by a template that names a missing network, or data that is not read.
		keepTemplates(existing, desired)
	}
	templates.Keep(&existing.Spec, &desired.Spec)
	write := apply.Exact[*v1alpha.WorkloadDeployment]
	if desired.Spec.Floor != nil || existing.Spec.Floor != nil {
		write = apply.ExactVersion
	}
	stored, err := write(ctx, s.client, FieldManager, existing, desired)
	if err != nil {
		return err
	}
	if note := s.rolling.steps[stored.Name]; note != "" && stored.Generation != existing.Generation {
		s.events.Eventf(s.workload, corev1.EventTypeNormal, eventRollout, "%s", note)
	}
	s.existing[stored.Name] = stored
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

// keepForHub keeps the metadata of prepareForHub: server-side apply removes fields that its field manager no longer
// sets.
func keepForHub(existing, desired *v1alpha.WorkloadDeployment) {
	if namespace := existing.Annotations[v1alpha.AnnotationHubNamespace]; namespace != "" {
		desired.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: namespace}
	}
	if controllerutil.ContainsFinalizer(existing, v1alpha.FinalizerPropagation) {
		desired.Finalizers = []string{v1alpha.FinalizerPropagation}
	}
}

// deleteSurplus removes deployments whose placement or city the Workload no longer names or selects.
func (s *scope) deleteSurplus(ctx context.Context) error {
	for _, existing := range s.existing {
		if s.plan.wants(existing) || !s.mayRemove(existing) {
			continue
		}
		if err := s.deleteDrained(ctx, existing); err != nil {
			return err
		}
	}
	return nil
}

// deleteDrained deletes a deployment once traffic has left it.
func (s *scope) deleteDrained(ctx context.Context, existing *v1alpha.WorkloadDeployment) error {
	drained, err := s.drained(ctx, existing)
	if err != nil || !drained {
		return err
	}
	return s.deleteDeployment(ctx, existing)
}

func (s *scope) deleteAll(ctx context.Context) error {
	for _, existing := range s.existing {
		if err := s.deleteDrained(ctx, existing); err != nil {
			return err
		}
	}
	return nil
}

// deleteOrphans deletes deployments whose Workload is gone. The garbage collector deletes most of them before. It leaves a
// deployment that has lost its owner reference. After a restore from a backup it also leaves one whose Workload is still in
// its cache: the deployment was written meanwhile, and the backup does not have the Workload.
func (s *scope) deleteOrphans(ctx context.Context) error {
	if len(s.orphans) == 0 {
		return nil
	}
	present, err := s.presentUID(ctx)
	if err != nil {
		return err
	}
	for _, orphan := range s.orphans {
		if present != "" && isOf(orphan, present) {
			continue // The cache does not have this Workload yet, or the label was changed.
		}
		if err := s.deleteDeployment(ctx, orphan); err != nil {
			return err
		}
	}
	return nil
}

// isOf reports whether anything in a deployment names the Workload with this UID: a deployment that runs is not deleted for a label.
func isOf(deployment *v1alpha.WorkloadDeployment, workload types.UID) bool {
	owner := metav1.GetControllerOfNoCopy(deployment)
	return owner != nil && owner.UID == workload || deployment.Spec.WorkloadRef.UID == workload ||
		deployment.Labels[v1alpha.LabelWorkloadUID] == string(workload)
}

// presentUID reads the UID of the Workload of this name from the API server; "": none exists.
func (s *scope) presentUID(ctx context.Context) (types.UID, error) {
	present := &v1alpha.Workload{}
	err := s.project.GetAPIReader().Get(ctx, s.request.NamespacedName, present)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("find out whether the Workload of earlier deployments exists: %w", err)
	}
	return present.UID, nil
}

func (s *scope) deleteDeployment(ctx context.Context, existing *v1alpha.WorkloadDeployment) error {
	if !existing.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := s.client.Delete(ctx, existing, client.Preconditions{UID: &existing.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete deployment %s: %w", existing.Name, err)
	}
	return nil
}

// removeFinalizer allows the deletion of a Workload that has no deployment any more. The deletion event of each
// deployment requeues it.
func (s *scope) removeFinalizer(ctx context.Context) error {
	if len(s.existing) > 0 {
		return nil
	}
	return apply.RemoveFinalizer(ctx, s.client, FieldManager, s.workload, v1alpha.FinalizerWorkload)
}
