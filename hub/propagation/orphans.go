// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"fmt"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

const (
	// sweepInterval is how often the caches are searched for copies without originals. Events find most of them earlier.
	sweepInterval = 2 * time.Minute
	// recreatedWithin is when a copy without an original is reconciled again whose owner is not gone.
	recreatedWithin = 30 * time.Second
)

// adopts says whether the deployment takes over the copy of an earlier one of its name: one of the same Workload, placement and
// city.
func (s *scope) adopts(copied *v1alpha.WorkloadDeployment) bool {
	return copied.Labels[v1alpha.LabelProjectUID] == string(s.origin.ProjectUID) &&
		copied.Spec.WorkloadRef.UID == s.deployment.Spec.WorkloadRef.UID &&
		copied.Spec.PlacementName == s.deployment.Spec.PlacementName &&
		naming.CityLabel(copied.Spec.CityCode) == naming.CityLabel(s.deployment.Spec.CityCode)
}

// withdrawWithoutOriginal removes from the hub what a deployment put there that does not exist any more: its finalizer was
// removed by force, or it was to be made again and its Workload was deleted before that.
func (s *scope) withdrawWithoutOriginal(name types.NamespacedName) func(context.Context) error {
	return func(ctx context.Context) error {
		labelled, err := s.labelledNamespaces(ctx, s.Hub)
		if err != nil || len(labelled) == 0 {
			return err
		}
		// Without an answer of the project its namespace may exist.
		if s.namespaceUID, err = s.origin.NamespaceUID(ctx, s.projectAPI); err != nil && !projects.IsMissing(err, name.Namespace) {
			return err
		}
		for i := range labelled {
			s.deployment = &v1alpha.WorkloadDeployment{}
			s.deployment.Namespace, s.deployment.Name = name.Namespace, name.Name
			if !labelled[i].DeletionTimestamp.IsZero() || !s.proves(&labelled[i]) {
				continue
			}
			s.hubNamespace, s.hubNamespaceUID, s.copied, s.blocked = labelled[i].Name, labelled[i].UID, nil, false
			if err := s.locked(ctx, s.confirmGone, s.deleteOrphan, s.deleteUnusedCities, s.deleteNamespace); err != nil {
				return err
			}
		}
		return nil
	}
}

// confirmGone loads the copy, and waits unless its original is proved gone.
func (s *scope) confirmGone(ctx context.Context) error {
	if isOfNamespace(client.ObjectKeyFromObject(s.deployment)) {
		return nil
	}
	copied := &v1alpha.WorkloadDeployment{}
	key := ownership.Key{
		Project: s.origin.Project, ProjectUID: s.origin.ProjectUID, HubNamespace: s.hubNamespace, Deployment: client.ObjectKeyFromObject(s.deployment),
	}
	err := s.Hub.Get(ctx, client.ObjectKey{Namespace: s.hubNamespace, Name: s.deployment.Name}, copied)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the hub's copy: %w", err)
	}
	if err == nil {
		s.copied, key.Copied, key.UID = copied, copied, types.UID(copied.Labels[v1alpha.LabelDeploymentUID])
	}
	answer, err := s.Owners.Verdict(ctx, key)
	if s.blocked = answer.Verdict != ownership.Gone; s.blocked {
		s.requeueAfter.AtMost(recreatedWithin)
	}
	return err
}

// deleteOrphan deletes the copy, and waits instead when it is of another project.
func (s *scope) deleteOrphan(ctx context.Context) error {
	if s.copied == nil {
		return nil
	}
	if s.copied.Labels[v1alpha.LabelProjectUID] != string(s.origin.ProjectUID) {
		s.blocked = true
		return nil
	}
	log.FromContext(ctx).Info("Deleting a copy whose original is gone", "hubNamespace", s.hubNamespace)
	err := s.deleteAndWait(ctx, s.copied)
	// Nothing has to wait for the end of this copy: no finalizer depends on it.
	s.blocked = false
	return err
}

// deleteUnusedCities deletes what the hub namespace has for cities in which it has no deployment.
func (s *scope) deleteUnusedCities(ctx context.Context) error {
	var policies policyv1alpha1.PropagationPolicyList
	if err := s.Hub.List(ctx, &policies, client.InNamespace(s.hubNamespace), client.HasLabels{v1alpha.LabelTopologyCity}); err != nil {
		return fmt.Errorf("list the policies of the hub namespace: %w", err)
	}
	for i := range policies.Items {
		s.deployment.Spec.CityCode = policies.Items[i].Labels[v1alpha.LabelTopologyCity]
		if err := s.deleteCity(ctx); err != nil {
			return err
		}
	}
	return nil
}

// abandoned is a source of requests for copies without originals, and for hub namespaces without copies, in projects that this
// replica has engaged: those that went while nobody looked. It reads the caches alone.
func (r *Reconciler) abandoned() source.TypedSource[mcreconcile.Request] {
	return projects.Sweep{For: "copies without originals", Interval: sweepInterval, Jitter: 0.5, Find: r.findAbandoned}.Source()
}

func (r *Reconciler) findAbandoned(ctx context.Context) ([]mcreconcile.Request, error) {
	var copies v1alpha.WorkloadDeploymentList
	var namespaces corev1.NamespaceList
	if err := r.Hub.List(ctx, &copies, client.HasLabels{v1alpha.LabelProject}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the hub's copies: %w", err)
	}
	if err := r.Hub.List(ctx, &namespaces, client.HasLabels{v1alpha.LabelProject}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the hub namespaces: %w", err)
	}
	used := map[string]bool{}
	var requests []mcreconcile.Request
	for i := range copies.Items {
		used[copies.Items[i].Namespace] = true
		requests = append(requests, r.withoutOriginal(ctx, projects.OfCopy(ctx, &copies.Items[i]))...)
	}
	for i := range namespaces.Items {
		if !used[namespaces.Items[i].Name] && namespaces.Items[i].DeletionTimestamp.IsZero() {
			requests = append(requests, r.ofEmptyNamespace(ctx, &namespaces.Items[i])...)
		}
	}
	return requests, nil
}

// withoutOriginal are the requests for originals that the caches of engaged projects do not have.
func (r *Reconciler) withoutOriginal(ctx context.Context, requests []mcreconcile.Request) []mcreconcile.Request {
	var missing []mcreconcile.Request
	for _, request := range requests {
		project, err := r.Projects.Get(ctx, request.ClusterName)
		if err != nil {
			// Another replica has the project, or nobody yet.
			continue
		}
		if err := project.GetClient().Get(ctx, request.NamespacedName, &v1alpha.WorkloadDeployment{}); apierrors.IsNotFound(err) {
			missing = append(missing, request)
		}
	}
	return missing
}

// isOfNamespace reports whether a request is for the hub namespace itself, which has no copies: it names no deployment.
func isOfNamespace(name types.NamespacedName) bool { return name.Name == "" }

// ofEmptyNamespace is a request for a hub namespace without copies, if the project has no deployment for it either. isOfNamespace
// recognizes it.
func (r *Reconciler) ofEmptyNamespace(ctx context.Context, namespace *corev1.Namespace) []mcreconcile.Request {
	if len(r.originalsIn(nameOf)(ctx, namespace)) > 0 {
		return nil
	}
	if _, err := r.Projects.Get(ctx, projects.NameOf(namespace)); err != nil {
		return nil
	}
	return []mcreconcile.Request{{ClusterName: projects.NameOf(namespace), Request: reconcile.Request{
		NamespacedName: types.NamespacedName{Namespace: namespace.Labels[v1alpha.LabelProjectNamespace]},
	}}}
}
