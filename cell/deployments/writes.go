// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// errRefused ends the writes of a reconcile without being its error: it was dealt with, and the other Instances would
// be refused, too.
var errRefused = errors.New("the cell refuses the Instances")

// slowStart calls action for the first item, then for the next two at the same time, then for four, up to atOnce: a cell
// that refuses the first item gets no requests for all others. It ends after the group in which a call has failed.
func slowStart[T any](ctx context.Context, items []T, action func(context.Context, T) error) error {
	for size := 1; len(items) > 0; size = min(2*size, atOnce) {
		group := errgroup.Group{}
		now := items[:min(size, len(items))]
		items = items[len(now):]
		for _, item := range now {
			group.Go(func() error { return action(ctx, item) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// firstBatch returns the part of all that this reconcile processes. The next one continues.
func firstBatch[T any](s *scope, all []T) []T {
	if len(all) <= batch {
		return all
	}
	s.requeueAtMost(batchRequeue)
	return all[:batch]
}

// removeInstances deletes the Instances that are not desired, and replaces the Instances of another template.
func (s *scope) removeInstances(ctx context.Context) error {
	remove, err := s.removable(ctx)
	if err != nil {
		return err
	}
	remove = firstBatch(s, remove)
	if s.floor() == nil {
		return slowStart(ctx, remove, s.removeInstance)
	}
	return s.disrupt(ctx, remove, s.removeInstance)
}

func (s *scope) deleteInstance(ctx context.Context, instance *v1alpha.Instance) error {
	unchanged := client.Preconditions{UID: &instance.UID}
	if s.wanted(instance) {
		// The cache may lack that it has another template by now.
		unchanged.ResourceVersion = &instance.ResourceVersion
	}
	// Foreground deletion deletes the Pod first, so that the name is free only when no container of the Instance runs any
	// more.
	if err := s.Client.Delete(ctx, instance, client.PropagationPolicy(metav1.DeletePropagationForeground), unchanged); err != nil {
		s.requeueChanged(err)
		return fmt.Errorf("delete Instance %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	log.FromContext(ctx).Info("Deleted Instance", "instance", instance.Name, "template", instance.TemplateHash(), "newest", s.versions.hash)
	return nil
}

func (s *scope) createInstances(ctx context.Context) error {
	err := slowStart(ctx, firstBatch(s, s.plan.create), s.createInstance)
	if errors.Is(err, errRefused) {
		return nil
	}
	return err
}

// desired is the Instance at an index as it is created.
func (s *scope) desired(index int) *v1alpha.Instance {
	instance := desiredInstance(s.deployment, index, s.versions.hashAt(s.deployment, index))
	if len(s.versions.missingAt(s.deployment, index)) > 0 {
		holdForData(instance)
	}
	if sent := owned.SentAs(s.deployment); sent != "" {
		metav1.SetMetaDataAnnotation(&instance.ObjectMeta, v1alpha.AnnotationSentAs, sent)
	}
	return instance
}

func (s *scope) createInstance(ctx context.Context, index int) error {
	instance := s.desired(index)
	holder, refused, err := apply.Claim(ctx, s.Client, s.APIReader, FieldManager, instance)
	switch {
	case holder != nil:
		// It is adopted or deleted if its WorkloadDeployment is gone.
		s.requeueAtMost(takenRequeue)
		_, err := s.Strays.Instance(ctx, holder)
		return err
	case err != nil:
		return err
	case refused == nil:
		s.created.add(client.ObjectKeyFromObject(s.deployment), instance.Name, s.Clock.Now())
		log.FromContext(ctx).Info("Created Instance", "instance", instance.Name, "template", instance.TemplateHash())
		return nil
	case apierrors.HasStatusCause(refused, corev1.NamespaceTerminatingCause):
		// The deployment is deleted with its namespace.
		return errRefused
	case apierrors.IsInvalid(refused):
		// Only another template helps, and its event requeues the deployment.
		s.recordRefusal(ctx, instance, refused)
		return errRefused
	case apierrors.IsForbidden(refused):
		s.recordRefusal(ctx, instance, refused)
		s.requeueAtMost(forbiddenRequeue)
		return errRefused
	default:
		return fmt.Errorf("create Instance %s: %w", client.ObjectKeyFromObject(instance), refused)
	}
}

// requeueChanged requeues the deployment if an Instance is not as the cache has it: the event of its change may be one
// that changes no plan.
func (s *scope) requeueChanged(err error) {
	if apierrors.IsConflict(err) {
		s.requeueAtMost(changedRequeue)
	}
}

func (s *scope) requeueAtMost(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.RequeueAfter.AtMost(after)
}

func (s *scope) recordRefusal(ctx context.Context, instance *v1alpha.Instance, refusal error) {
	log.FromContext(ctx).Info("The cell refused to create an Instance", "instance", instance.Name, "error", refusal.Error())
	note := reasons.Shorten(fmt.Sprintf("Instance %s: %v", instance.Name, refusal), maxNote)
	s.Recorder.Eventf(s.deployment, corev1.EventTypeWarning, "InstanceRefused", "%s", note)
}
