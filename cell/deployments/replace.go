// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// removable are the Instances to delete or to replace now. If the Pod of a wanted Instance has another template than
// the Instance, either the cache has not seen the replacement, or its Pod is still being stopped.
func (s *scope) removable(ctx context.Context) ([]*v1alpha.Instance, error) {
	var removable []*v1alpha.Instance
	for _, instance := range s.plan.remove {
		pod, err := s.podOf(ctx, instance)
		if err != nil {
			return nil, err
		}
		hash := pod.Labels[v1alpha.LabelTemplateHash]
		if s.wanted(instance) && hash != "" && hash != instance.TemplateHash() && metav1.IsControlledBy(pod, instance) {
			s.requeueAtMost(heldRequeue)
			continue
		}
		removable = append(removable, instance)
	}
	return s.accepted(ctx, removable)
}

// wanted reports whether the index of an Instance is one that the deployment wants.
func (s *scope) wanted(instance *v1alpha.Instance) bool {
	index, ok := naming.InstanceIndex(s.deployment.Name, instance.Name)
	_, wanted := slices.BinarySearch(naming.Desired(s.deployment), index)
	return ok && wanted
}

// removeInstance replaces an Instance in place if it needs only another template, and deletes it otherwise. With a
// floor, its Pod is evicted already.
func (s *scope) removeInstance(ctx context.Context, instance *v1alpha.Instance) error {
	pod, err := s.podOf(ctx, instance)
	if err != nil {
		return err
	}
	index, ok := naming.InstanceIndex(s.deployment.Name, instance.Name)
	if !ok || !s.replaceable(instance, pod, index) {
		return s.deleteInstance(ctx, instance)
	}
	err = s.replaceInstance(ctx, instance, s.desired(index))
	if apierrors.IsConflict(err) && s.floor() != nil {
		// It must not get a Pod of the same template again.
		err = s.replaceChanged(ctx, instance, s.desired(index))
	}
	if err != nil {
		s.requeueChanged(err)
		return err
	}
	return s.stopPod(ctx, pod)
}

// podOf returns the Pod with the name of an Instance, or an empty one if it does not exist.
func (s *scope) podOf(ctx context.Context, instance *v1alpha.Instance) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(instance), pod); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get Pod %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	return pod, nil
}

// replaceChanged replaces an Instance that the cache does not have as it is, unless it has another template already.
func (s *scope) replaceChanged(ctx context.Context, cached, desired *v1alpha.Instance) error {
	instance := &v1alpha.Instance{}
	if err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(cached), instance); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get Instance %s: %w", client.ObjectKeyFromObject(cached), err)
	}
	if instance.UID != cached.UID || instance.TemplateHash() != cached.TemplateHash() || deleting(instance) {
		return nil
	}
	return s.replaceInstance(ctx, instance, desired)
}

// replaceable reports whether an Instance can get another template in place: its Pod has the template that it has
// itself, and its status is about that Pod. So the status never seems to be about the next template, and the Pod is
// recognized as one of the earlier template.
func (s *scope) replaceable(instance *v1alpha.Instance, pod *corev1.Pod, index int) bool {
	hash, observed := instance.TemplateHash(), instance.Status.Controller
	template, _ := s.deployment.Spec.TemplateAt(index)
	return s.wanted(instance) && hash != "" && hash != s.versions.hashAt(s.deployment, index) && instance.DeletionTimestamp.IsZero() &&
		instance.Labels[v1alpha.LabelWorkloadUID] == string(s.deployment.Spec.WorkloadRef.UID) &&
		observed != nil && observed.ObservedTemplateHash == hash &&
		pod.UID != "" && metav1.IsControlledBy(pod, instance) && pod.Labels[v1alpha.LabelTemplateHash] == hash &&
		!s.External(&instance.Spec) && !s.External(&template.Spec)
}

// replaceInstance gives an Instance what a new one at its index would have. The lock keeps the decision from being
// applied to another state.
func (s *scope) replaceInstance(ctx context.Context, instance, desired *v1alpha.Instance) error {
	changed := instance.DeepCopy()
	changed.Labels, changed.Annotations, changed.Spec = desired.Labels, desired.Annotations, desired.Spec
	patch := client.MergeFromWithOptions(instance, client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, changed, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("replace Instance %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	log.FromContext(ctx).Info("Replaced Instance", "instance", instance.Name, "from", instance.TemplateHash(), "to", desired.TemplateHash())
	return nil
}

// stopPod deletes the Pod that an Instance had with its earlier template; with a floor, it is evicted already. The Pod
// is recorded as stopped once it is: a deletion that fails is repeated.
func (s *scope) stopPod(ctx context.Context, pod *corev1.Pod) error {
	if s.floor() == nil {
		if err := s.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Pod %s, which has an earlier template: %w", client.ObjectKeyFromObject(pod), err)
		}
	}
	s.stopped.add(client.ObjectKeyFromObject(s.deployment), string(pod.UID), s.Clock.Now())
	return nil
}

// stopEarlierPods stops the Pods of Instances that were replaced in place when the agent ended before it stopped their
// Pods.
func (s *scope) stopEarlierPods(ctx context.Context) error {
	key := client.ObjectKeyFromObject(s.deployment)
	s.stopped.expire(key, s.Clock.Now())
	for i := range s.instances {
		instance := &s.instances[i]
		if !owned.RunsEarlier(instance) || !instance.DeletionTimestamp.IsZero() {
			continue
		}
		pod, err := s.podOf(ctx, instance)
		if err != nil {
			return err
		}
		hash := pod.Labels[v1alpha.LabelTemplateHash]
		if hash == "" || hash == instance.TemplateHash() || !metav1.IsControlledBy(pod, instance) || !pod.DeletionTimestamp.IsZero() ||
			s.stopped.isRecent(key, string(pod.UID)) {
			continue
		}
		allowed, err := s.mayStop(ctx, instance, pod)
		if err != nil {
			return err
		}
		if !allowed {
			s.requeueAtMost(heldRequeue)
			continue
		}
		if err := s.stopPod(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}
