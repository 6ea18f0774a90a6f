// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/cell/services"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	pace.Runner
	deployment *v1alpha.WorkloadDeployment
	instances  []v1alpha.Instance
	// slices are the deployment's slices that are in the cell, by their numbers.
	slices  map[int]*v1alpha.InstanceSlice
	reports *Reports
}

// Reconcile writes the status of one WorkloadDeployment.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r, deployment: &v1alpha.WorkloadDeployment{}}
	if err := r.client.Get(ctx, request.NamespacedName, s.deployment); err != nil {
		if apierrors.IsNotFound(err) {
			r.pace.forget(request.NamespacedName)
			r.upToDate.set(request.NamespacedName, nil)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if s.waits(request.NamespacedName, false) {
		// A report that is not written need not be computed.
		return s.RequeueAfter.Result(), nil
	}
	if wait := s.pace.look(request.NamespacedName); s.deployment.Spec.Slices > 0 && wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return s.Run(ctx, s.listInstances, s.listSlices, s.makeReports, s.addScaling, s.addFloor, s.addAddresses, s.write)
}

func (s *scope) listInstances(ctx context.Context) (err error) {
	s.instances, err = owned.Instances(ctx, s.client, s.deployment)
	return err
}

func (s *scope) makeReports(context.Context) (err error) {
	s.reports, err = Report(s.deployment, s.instances, s.arrived, s.clock.Now())
	return err
}

// addScaling reports, for a deployment that is scaled by metrics, the measured Pods and whether the measurement
// succeeds.
func (s *scope) addScaling(ctx context.Context) error {
	s.reports.Status.Selector = labels.SelectorFromSet(labels.Set{v1alpha.LabelDeploymentName: s.deployment.Name}).String()
	if !s.deployment.Spec.Autoscaled() {
		return nil
	}
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{}
	key := client.ObjectKeyFromObject(s.deployment)
	if err := s.client.Get(ctx, key, autoscaler); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get HorizontalPodAutoscaler %s: %w", key, err)
	}
	stamp := apply.Stamp{Generation: s.deployment.Generation, Now: s.clock.Now()}
	s.reports.Status.Conditions = append(s.reports.Status.Conditions,
		apply.StampedConditions(s.deployment.Status.Conditions, stamp, scalingActive(autoscaler))...)
	return nil
}

// addAddresses reports the addresses of the Service of the Workload.
func (s *scope) addAddresses(ctx context.Context) error {
	if !s.deployment.Spec.Service.Exposed() {
		return nil
	}
	service := &corev1.Service{}
	key := client.ObjectKey{Namespace: s.deployment.Namespace, Name: s.deployment.Spec.WorkloadRef.Name}
	if err := s.client.Get(ctx, key, service); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get Service %s: %w", key, err)
	}
	indices := &s.reports.Status.Indices[0]
	indices.Addresses, indices.UnroutedHostnames = services.Addresses(service, s.deployment), services.Unrouted(service, s.deployment)
	return nil
}

// write writes the outdated status of the deployment and of its slices when the pace allows it.
func (s *scope) write(ctx context.Context) error {
	key, status := client.ObjectKeyFromObject(s.deployment), &s.reports.Status
	same, outdated := sameStatus(&s.deployment.Status, status), s.outdatedSlices()
	if same && len(outdated) == 0 {
		s.pace.unchanged(key)
		return nil
	}
	// The hub transfers tokens once the floor is confirmed.
	confirms := s.floorChanged()
	// Slices of Instances that start wait by themselves.
	onlyStarting := same && !slices.ContainsFunc(outdated, func(o outdatedSlice) bool { return !o.starting })
	if s.delays(key, confirms, onlyStarting) {
		return nil
	}
	// The slices first: readers of the counts then find the Instances, except for starting ones.
	if err := s.writeSlices(ctx, outdated); err != nil || same {
		return err
	}
	if !confirms && s.summarizesSlices() && !s.pace.rollingOut(key) && s.sumsWait(key, status) {
		return nil
	}
	status.Sequence = next(s.deployment.Status.Sequence, s.clock.Now())
	encoded, err := json.Marshal(status)
	if err != nil {
		return fmt.Errorf("encode the status: %w", err)
	}
	if err := apply.Status(ctx, s.client, FieldManager, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.deployment.Namespace, Name: s.deployment.Name, ResourceVersion: s.deployment.ResourceVersion},
		Status:     *status,
	}); err != nil {
		return err
	}
	s.pace.wrote(key, len(encoded))
	return nil
}

// delays reports whether the report waits for its pace. One that confirms a floor does not wait for a rollout.
func (s *scope) delays(key client.ObjectKey, confirms, onlyStarting bool) bool {
	return !confirms && s.rolloutWaits(key) || s.waits(key, !confirms && !onlyStarting && s.passing(key))
}

// passing reports whether the reported state only differs from the stored one by what passes. A rollout in progress has
// a pace of its own.
func (s *scope) passing(key client.ObjectKey) bool {
	before, status := &s.deployment.Status, &s.reports.Status
	return !s.pace.rollingOut(key) && wire.Passing(before.ReplicaCounts, status.ReplicaCounts, before.Conditions, status.Conditions)
}

// waits reports whether the pace delays the next report. passing marks a report of a transient state.
func (s *scope) waits(key client.ObjectKey, passing bool) bool {
	remaining := s.pace.wait(key, passing)
	if remaining > 0 {
		s.RequeueAfter.AtMost(remaining)
	}
	return remaining > 0
}

// rolloutWaits reports whether the report waits because Instances are being replaced.
func (s *scope) rolloutWaits(key client.ObjectKey) bool {
	wait := s.pace.rollout(key, s.reports.summary.replacement())
	if wait > 0 {
		s.RequeueAfter.AtMost(wait)
	}
	return wait > 0
}

// sumsWait reports whether the sums of the slices wait: for the changes of half a second, and, while Instances start,
// for budget that their slices do not need.
func (s *scope) sumsWait(key client.ObjectKey, status *v1alpha.WorkloadDeploymentStatus) bool {
	wait := s.pace.wait(key, true)
	if meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionProgressing) {
		wait = max(wait, s.pace.spare(key))
	}
	if wait > 0 {
		s.RequeueAfter.AtMost(wait)
	}
	return wait > 0
}

// summarizesSlices reports whether the status differs only in sums of the slices, which show the change already. If
// Instances change one after the other, the sums of several changes then cost one write.
func (s *scope) summarizesSlices() bool {
	before, status := &s.deployment.Status, &s.reports.Status
	return len(s.slices) > 0 && before.ObservedGeneration == status.ObservedGeneration &&
		equality.Semantic.DeepEqual(before.Reports, status.Reports)
}
