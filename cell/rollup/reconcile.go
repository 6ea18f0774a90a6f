// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"encoding/json"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/cell/steps"
	"github.com/karmada-compute/karmada-compute/conditions"
)

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	steps.Runner
	deployment *v1alpha.WorkloadDeployment
	instances  []v1alpha.Instance
	status     v1alpha.WorkloadDeploymentStatus
}

// Reconcile writes the status of one WorkloadDeployment.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r, deployment: &v1alpha.WorkloadDeployment{}}
	if err := r.client.Get(ctx, request.NamespacedName, s.deployment); err != nil {
		if apierrors.IsNotFound(err) {
			r.pace.forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return s.Run(ctx, s.listInstances, s.makeStatus, s.addScaling, s.writeStatus)
}

func (s *scope) listInstances(ctx context.Context) (err error) {
	s.instances, err = owned.Instances(ctx, s.client, s.deployment)
	return err
}

func (s *scope) makeStatus(context.Context) (err error) {
	s.status, err = Report(s.deployment, s.instances, s.clock.Now())
	return err
}

// addScaling says for a deployment that is scaled by metrics which Pods are measured and whether that succeeds.
func (s *scope) addScaling(ctx context.Context) error {
	s.status.Selector = labels.SelectorFromSet(labels.Set{v1alpha.LabelDeploymentName: s.deployment.Name}).String()
	if !s.deployment.Spec.Autoscaled() {
		return nil
	}
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{}
	key := client.ObjectKeyFromObject(s.deployment)
	if err := s.client.Get(ctx, key, autoscaler); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get HorizontalPodAutoscaler %s: %w", key, err)
	}
	stamp := conditions.Stamp{Generation: s.deployment.Generation, Now: s.clock.Now()}
	s.status.Conditions = append(s.status.Conditions, conditions.Stamped(s.deployment.Status.Conditions, stamp, scalingActive(autoscaler))...)
	return nil
}

// writeStatus writes the status when it differs and the pace allows it.
func (s *scope) writeStatus(ctx context.Context) error {
	key := types.NamespacedName{Namespace: s.deployment.Namespace, Name: s.deployment.Name}
	if sameStatus(&s.deployment.Status, &s.status) {
		s.pace.settled(key)
		return nil
	}
	if rest := s.pace.rest(key, passing(&s.deployment.Status, &s.status)); rest > 0 {
		s.RequeueAfter.AtMost(rest)
		return nil
	}
	encoded, err := json.Marshal(&s.status)
	if err != nil {
		return fmt.Errorf("encode the status: %w", err)
	}
	s.pace.wrote(key, len(encoded))
	return apply.Status(ctx, s.client, FieldManager, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.deployment.Namespace, Name: s.deployment.Name, ResourceVersion: s.deployment.ResourceVersion},
		Status:     s.status,
	})
}

// passing says whether wanted tells of a state on the way to another: no Instance became Ready or ceased to be, none is gone, and the
// deployment has not come to rest. Most such states are over before anybody has read of them.
func passing(existing, wanted *v1alpha.WorkloadDeploymentStatus) bool {
	if existing.ReadyReplicas != wanted.ReadyReplicas || existing.Replicas > wanted.Replicas {
		return false
	}
	return !reaches(existing, wanted, v1alpha.ConditionProgressing, metav1.ConditionFalse) &&
		!reaches(existing, wanted, v1alpha.ConditionSuspended, metav1.ConditionTrue)
}

// reaches says whether a condition gets a status that it did not have.
func reaches(existing, wanted *v1alpha.WorkloadDeploymentStatus, condition string, status metav1.ConditionStatus) bool {
	return meta.IsStatusConditionPresentAndEqual(wanted.Conditions, condition, status) &&
		!meta.IsStatusConditionPresentAndEqual(existing.Conditions, condition, status)
}
