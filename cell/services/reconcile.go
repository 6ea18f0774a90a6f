// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// retryAfter is the delay before retrying a Service that was refused or whose name is taken: no event reports that a quota
// was raised, or that a Service of others is gone.
const retryAfter = 30 * time.Second

// scope is the state of one reconcile of a Workload.
type scope struct {
	*Reconciler
	pace.Runner
	key client.ObjectKey
	// deployments are all copies of deployments of Workloads of this name, and served the ones that have the Service.
	deployments []v1alpha.WorkloadDeployment
	served      []*v1alpha.WorkloadDeployment
	// unproven: another deployment is not proved to be a copy of the hub.
	unproven bool
	// existing is the Service that the agent created, or an empty one.
	existing *corev1.Service
	// programmed is the condition of the deployments that have the Service; nil: it is not known yet.
	programmed *metav1.Condition
	exporting  exporting
	// balancer has the settings of the load balancer; nil: the cell has none. unknown: the hub has not sent them.
	balancer *v1alpha.CellLoadBalancer
	unknown  bool
	// held has the text of a condition about addresses that are reported although the Service has lost them.
	held string
	// routing is the route that the Workload must have, and routed the condition of a Service at a Gateway.
	routing routing
	routed  *metav1.Condition
}

// Reconcile creates, changes or deletes the Service of the Workload of this name.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r, key: request.NamespacedName, existing: &corev1.Service{}}
	return s.Run(ctx, s.load, s.ensure, s.export, s.withdrawRoute, s.report)
}

func (s *scope) load(ctx context.Context) error {
	var list v1alpha.WorkloadDeploymentList
	if err := s.Client.List(ctx, &list, client.InNamespace(s.key.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the WorkloadDeployments of namespace %s: %w", s.key.Namespace, err)
	}
	for i := range list.Items {
		if list.Items[i].Spec.WorkloadRef.Name != s.key.Name {
			continue
		}
		proved, err := owned.IsCopy(ctx, s.Client, &list.Items[i])
		switch {
		case err != nil:
			return err
		case proved:
			s.deployments = append(s.deployments, list.Items[i])
		default:
			s.unproven = true
			s.RequeueAfter.AtMost(owned.UnprovenRequeue)
		}
	}
	s.served = served(s.deployments)
	if err := s.Client.Get(ctx, s.key, s.existing); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get Service %s: %w", s.key, err)
	}
	return nil
}

// ensure writes or deletes the Service, and finds its condition.
func (s *scope) ensure(ctx context.Context) error {
	if len(s.served) == 0 && s.unproven {
		// A copy may have lost its labels for a moment.
		return nil
	}
	if len(s.served) == 0 {
		return s.remove(ctx)
	}
	if !s.served[0].DeletionTimestamp.IsZero() || !s.existing.DeletionTimestamp.IsZero() {
		// The Service is deleted with its last deployment, by its owner references. If it is being deleted itself, the
		// event of its end requeues the Workload.
		return nil
	}
	newest := current(s.served)
	if err := s.loadBalancer(ctx, newest); err != nil {
		return err
	}
	desired := desiredService(s.served, s.balancer)
	if s.keepsBalancer(newest) {
		expose(desired, s.balancer)
	}
	if err := s.route(ctx, desired, newest); err != nil {
		return err
	}
	if desired.Spec.Type == corev1.ServiceTypeLoadBalancer {
		s.remember(desired, v1alpha.AnnotationLastAddresses, balancedAddresses(s.existing))
	}
	listAnnotations(desired)
	if s.existing.UID != "" && needsRecreation(s.existing, desired) {
		// The event of the deletion requeues the Workload.
		return s.remove(ctx)
	}
	owners := desired.OwnerReferences
	if err := s.write(ctx, desired); err != nil {
		return s.reportRefusal(err)
	}
	s.exporting = exporting{known: true, owners: owners}
	s.programmed = s.exposureOf(newest)
	return nil
}

// errTaken says that a Service of others has the name of the Workload.
var errTaken = errors.New("taken")

// write creates the Service, or changes the one that the agent created. A creation never takes over a Service of others.
func (s *scope) write(ctx context.Context, desired *corev1.Service) error {
	if s.existing.UID != "" {
		return s.change(ctx, desired)
	}
	holder, refused, err := apply.Claim(ctx, s.Client, s.APIReader, FieldManager, desired)
	switch {
	case holder == nil:
		return errors.Join(refused, err)
	case !isOwn(holder):
		return errTaken
	}
	return fmt.Errorf("the cache lacks Service %s, which exists", s.key)
}

// change replaces what differs from the desired Service in fields that the agent sets. It is no server-side apply: only a creation can
// refuse a name that others have, and a later apply does not remove the fields that the creation has set.
func (s *scope) change(ctx context.Context, desired *corev1.Service) error {
	keepOthers(s.existing, desired)
	annotations := annotationsOf(s.existing, desired)
	owned := len(s.existing.OwnerReferences) == len(desired.OwnerReferences) && !apply.MetadataDiffers(s.existing, desired) &&
		equality.Semantic.DeepEqual(s.existing.Annotations, annotations)
	if owned && equality.Semantic.DeepEqual(s.existing.Spec, desired.Spec) {
		return nil
	}
	names := maps.Clone(s.existing.Labels)
	maps.Copy(names, desired.Labels)
	return apply.Replace(ctx, s.Client, FieldManager, s.existing, map[string]any{
		// Another writer may have changed the Service since it was read.
		"/metadata/resourceVersion": s.existing.ResourceVersion,
		"/metadata/labels":          names,
		"/metadata/annotations":     annotations,
		"/metadata/ownerReferences": desired.OwnerReferences,
		"/spec":                     desired.Spec,
	})
}

// reportRefusal makes a condition of an error that a person can act on, and returns all others.
func (s *scope) reportRefusal(err error) error {
	switch {
	case errors.Is(err, errTaken):
		s.exporting.known = true
		s.programmed = condition(metav1.ConditionFalse, v1alpha.ReasonServiceNameTaken, fmt.Sprintf(
			"namespace %s of the cell has a Service %s that the add-on did not create", s.key.Namespace, s.key.Name))
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err):
		s.programmed = condition(metav1.ConditionFalse, v1alpha.ReasonServiceRefused, "the cell refuses the Service: "+err.Error())
	default:
		return fmt.Errorf("write Service %s: %w", s.key, err)
	}
	s.RequeueAfter.AtMost(retryAfter)
	return nil
}

// remove deletes the Service that the agent created.
func (s *scope) remove(ctx context.Context) error {
	s.exporting.known, s.routing.known = true, true
	if s.existing.UID == "" || !s.existing.DeletionTimestamp.IsZero() {
		return nil
	}
	err := s.Client.Delete(ctx, s.existing, client.Preconditions{UID: &s.existing.UID})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete Service %s: %w", s.key, err)
	}
	return nil
}
