// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// copyEnds is the delay before a namespace whose copies are being deleted is requeued, if no event comes before.
const copyEnds = 10 * time.Second

// grantKnown is the delay before a namespace that was opened to the add-on is requeued: by then the API server and the
// cache know the grant.
const grantKnown = 2 * time.Second

// originOf returns the origin of a hub namespace, from its labels.
func originOf(namespace *corev1.Namespace) projects.Origin {
	return projects.Origin{
		Project: projects.NameOf(namespace).String(), ProjectUID: types.UID(namespace.Labels[v1alpha.LabelProjectUID]),
		Namespace: namespace.Labels[v1alpha.LabelProjectNamespace],
	}
}

// withdraw deletes the leftover objects of the project: first the copies, then the objects that they needed, and the
// namespace last. A later project of the name has a hub namespace of its own.
func (s *namespaceScope) withdraw(ctx context.Context) (reconcile.Result, error) {
	if s.patience.Begin(s.namespace.Name) {
		log.FromContext(ctx).Info("Withdrawing what a project left on the hub", "project", s.project, "uid", s.uid)
	}
	var copies v1alpha.WorkloadDeploymentList
	if err := s.APIReader.List(ctx, &copies, client.InNamespace(s.namespace.Name)); err != nil {
		return reconcile.Result{}, fmt.Errorf("list the copies in a hub namespace: %w", err)
	}
	for i := range copies.Items {
		if err := s.delete(ctx, &copies.Items[i]); err != nil {
			return reconcile.Result{}, err
		}
	}
	if len(copies.Items) > 0 {
		return later(copyEnds), nil
	}
	open, err := s.Grants.Has(ctx, s.namespace.Name)
	if err == nil && !open {
		// hub/propagation ended after it had created the hub namespace, and before it wrote the grant.
		return later(grantKnown), s.Grants.Ensure(ctx, s.namespace.Name, originOf(s.namespace))
	}
	if err == nil {
		err = s.deleteData(ctx)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, s.deleteNamespace(ctx)
}

// deleteData deletes copies of ConfigMaps and Secrets that the garbage collector has left.
func (s *namespaceScope) deleteData(ctx context.Context) error {
	for _, kind := range []string{templates.KindConfigMap, templates.KindSecret} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := s.APIReader.List(ctx, list, client.InNamespace(s.namespace.Name),
			client.MatchingLabels{v1alpha.LabelProjectUID: string(s.uid)}); err != nil {
			return fmt.Errorf("list the data in a hub namespace: %w", err)
		}
		for i := range list.Items {
			data := &list.Items[i]
			data.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
			if err := s.delete(ctx, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteNamespace deletes the namespace, and with it the policies. It also deletes the Works that the namespace owns
// and that carry it into cells, so that cells do not depend on whether the garbage collector has seen these Works.
func (s *namespaceScope) deleteNamespace(ctx context.Context) error {
	// Unless an operator has annotated it since it was read. A conflict is an error, after which everything is read again.
	unchanged := client.Preconditions{UID: &s.namespace.UID, ResourceVersion: &s.namespace.ResourceVersion}
	if err := s.deleteIf(ctx, s.namespace, unchanged); err != nil {
		return err
	}
	s.withdrawn.Inc()
	var works workv1alpha1.WorkList
	if err := s.APIReader.List(ctx, &works, client.MatchingLabels{v1alpha.LabelHubNamespace: s.namespace.Name}); err != nil {
		return fmt.Errorf("list the Works of a hub namespace: %w", err)
	}
	for i := range works.Items {
		if err := s.delete(ctx, &works.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes an object, but not a later one of the same name.
func (s *namespaceScope) delete(ctx context.Context, obj client.Object) error {
	uid := obj.GetUID()
	return s.deleteIf(ctx, obj, client.Preconditions{UID: &uid})
}

func (s *namespaceScope) deleteIf(ctx context.Context, obj client.Object, conditions client.Preconditions) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	if err := s.Hub.Delete(ctx, obj, conditions); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s of a project that does not exist: %w", client.ObjectKeyFromObject(obj), err)
	}
	return nil
}
