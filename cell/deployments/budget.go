// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

// heldRequeue is the time until a disruption that the budget does not allow now is retried. Most often an event of the
// budget or of an Instance comes first.
const heldRequeue = 5 * time.Second

// floor is the floor that limits this controller's deletions; nil: no limit. The Instances of a suspended project are
// stopped on purpose.
func (s *scope) floor() *v1alpha.AvailabilityFloor {
	if s.deployment.Spec.Suspended {
		return nil
	}
	return owned.Floor(s.deployment)
}

// withinFloor returns the Instances of remove that can be deleted while floor Available Instances remain, unavailable
// Instances first.
func withinFloor(floor int, instances []v1alpha.Instance, remove []*v1alpha.Instance) []*v1alpha.Instance {
	spare := -floor
	for i := range instances {
		if owned.Available(&instances[i]) {
			spare++
		}
	}
	var free, allowed []*v1alpha.Instance
	for _, instance := range remove {
		switch {
		case !owned.Available(instance):
			free = append(free, instance)
		case spare > 0:
			spare--
			allowed = append(allowed, instance)
		}
	}
	return slices.Concat(free, allowed)
}

// disrupt evicts the Pods of Instances, and calls then for each. The status of the PodDisruptionBudget counts these
// evictions together with the evictions of drains, and Kubernetes refuses an eviction that exceeds the budget, even if
// the cache is stale. Evictions are sequential, and disrupt ends with the first refusal.
func (s *scope) disrupt(ctx context.Context, remove []*v1alpha.Instance, then func(context.Context, *v1alpha.Instance) error) error {
	group := errgroup.Group{}
	group.SetLimit(atOnce)
	var failed error
	for _, instance := range remove {
		pod, err := s.podOf(ctx, instance)
		if err != nil {
			failed = err
			break
		}
		allowed, err := s.mayStop(ctx, instance, pod)
		if err != nil {
			failed = err
			break
		}
		if !allowed {
			log.FromContext(ctx).V(1).Info("The disruption budget does not allow the deletion of an Instance now", "instance", instance.Name)
			s.requeueAtMost(heldRequeue)
			break
		}
		group.Go(func() error { return then(ctx, instance) })
	}
	return errors.Join(failed, group.Wait())
}

// mayStop reports whether the agent may stop an Instance now, and takes the disruption from the budget: with a floor, it
// evicts the Pod. It is asked before every stop that a floor limits: not before Pods are deleted that have ended, that are on
// a lost node, or whose project is suspended (cell/runtime).
func (s *scope) mayStop(ctx context.Context, instance *v1alpha.Instance, pod *corev1.Pod) (bool, error) {
	switch {
	case s.floor() == nil:
		return true, nil
	case pod.UID != "" && metav1.IsControlledBy(pod, instance):
		return s.Evictor.Evict(ctx, pod)
	case !owned.Available(instance):
		return true, nil
	}
	// Another runtime runs it, and no budget of Kubernetes counts it.
	spare, err := s.spareWithoutPods(ctx)
	if err != nil || *spare <= 0 {
		return false, err
	}
	*spare--
	return true, nil
}

// spareWithoutPods is the number of Available Instances above the floor. The first call bypasses the cache, which may
// still have deleted Instances: only one worker reconciles the deployment, and its later deletions are subtracted.
func (s *scope) spareWithoutPods(ctx context.Context) (*int, error) {
	if s.unsupervised != nil {
		return s.unsupervised, nil
	}
	var list v1alpha.InstanceList
	if err := s.APIReader.List(ctx, &list, client.InNamespace(s.deployment.Namespace),
		client.MatchingLabels{v1alpha.LabelDeploymentName: s.deployment.Name}); err != nil {
		return nil, fmt.Errorf("list the Instances of WorkloadDeployment %s: %w", client.ObjectKeyFromObject(s.deployment), err)
	}
	spare := -int(s.floor().MinAvailable)
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], s.deployment) && owned.Available(&list.Items[i]) {
			spare++
		}
	}
	s.unsupervised = &spare
	return s.unsupervised, nil
}
