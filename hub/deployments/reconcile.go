// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
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

// deleteOrphans deletes deployments whose Workload is gone, and which the garbage collector has not deleted, or has lost: they have no
// owner reference any more.
func (s *scope) deleteOrphans(ctx context.Context) error {
	present := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: s.request.Namespace, Name: s.request.Name}}
	gone, err := ownership.Leftovers(ctx, s.project.GetAPIReader(), present, s.orphans, func(d *v1alpha.WorkloadDeployment) []types.UID {
		return []types.UID{d.Spec.WorkloadRef.UID, types.UID(d.Labels[v1alpha.LabelWorkloadUID])}
	})
	if err != nil {
		return err
	}
	for _, orphan := range gone {
		if err := deleteDeployment(ctx, s.client, orphan); err != nil {
			return err
		}
	}
	return nil
}
