// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// Reconcile writes the deployments that a Workload requests, and summarizes their status in the Workload's.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := projects.Find(ctx, r.Projects, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := r.scope(request, project, &v1alpha.Workload{})
	if err := s.load(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if s.workload.UID == "" {
		r.Passing.Done(request)
		r.finalizers.arrived(request)
		return reconcile.Result{}, s.deleteOrphans(ctx)
	}
	if s.workload.DeletionTimestamp.IsZero() {
		if err := s.deleteOrphans(ctx); err != nil {
			return reconcile.Result{}, err
		}
	}
	err = s.run(ctx)
	return s.requeueAfter.Result(), err
}

func (r *Reconciler) scope(request mcreconcile.Request, project projects.Project, workload *v1alpha.Workload) *scope {
	return &scope{
		Reconciler: r, request: request, project: project, client: project.GetClient(), events: project.Recorder(string(FieldManager)),
		workload: workload, history: &history{client: project.GetClient(), reader: project.GetAPIReader(), workload: workload},
	}
}

// run reads the facts, plans, makes the writes, and sums up what they have left.
func (s *scope) run(ctx context.Context) error {
	facts, err := s.facts(ctx)
	if err != nil || s.ended {
		return err
	}
	next, err := plan.Make(facts)
	if err != nil {
		return err
	}
	if next.TakesStep {
		if err := s.confirm(ctx, facts); err != nil || s.ended {
			return err
		}
		if next, err = plan.Make(facts); err != nil {
			return err
		}
	}
	for i := range next.Writes {
		if err := s.write(ctx, &next.Writes[i]); err != nil || s.ended {
			return err
		}
	}
	summary, err := next.Status(s.deployments)
	if err != nil {
		return err
	}
	if summary.Again > 0 {
		s.requeueAfter.AtMost(summary.Again.Result().RequeueAfter)
	}
	if err := s.writeStatus(ctx, &summary); err != nil || s.workload.DeletionTimestamp.IsZero() {
		return err
	}
	return s.end(ctx)
}

// end allows the deletion of a Workload that has no deployment any more. The deletion event of each deployment requeues it.
func (s *scope) end(ctx context.Context) error {
	if err := s.deleteOrphans(ctx); err != nil || len(s.deployments) > 0 {
		return err
	}
	return apply.RemoveFinalizer(ctx, s.client, FieldManager, s.workload, v1alpha.FinalizerWorkload)
}

// deleteOrphans deletes deployments whose Workload is gone. The garbage collector deletes most of them before. It leaves a
// deployment that has lost its owner reference. After a restore from a backup it also leaves one whose Workload is still in
// its cache: the deployment was written meanwhile, and the backup does not have the Workload.
func (s *scope) deleteOrphans(ctx context.Context) error {
	if len(s.orphans) == 0 {
		return nil
	}
	// Only the API server knows whether another Workload of the name exists.
	present := &v1alpha.Workload{}
	if err := s.project.GetAPIReader().Get(ctx, s.request.NamespacedName, present); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("find out whether the Workload of earlier deployments exists: %w", err)
	}
	for _, orphan := range s.orphans {
		if present.UID != "" && isOf(orphan, present.UID) {
			continue // The cache does not have this Workload yet, or the label was changed.
		}
		if err := deleteDeployment(ctx, s.client, orphan); err != nil {
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
