// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

// pass is one look at one deployment.
type pass struct {
	*Reconciler
	project    client.Client
	projectAPI client.Reader
	// projectName and projectUID are the identity of the project.
	projectName string
	projectUID  types.UID
	deployment  *v1alpha.WorkloadDeployment
	// hubNamespace is what the deployment's annotation names.
	hubNamespace string
	// waiting says that the hub is not ready for the next step; whatever it waits for brings the deployment back.
	waiting bool
	// cells are those of the deployment's city.
	cells []cell
	// reachable are the cells of any city that Karmada reaches.
	reachable map[string]bool
	// again is when the deployment must be looked at again although nothing changes; 0: never.
	again time.Duration
}

type step func(context.Context) error

// Reconcile looks at one WorkloadDeployment of one project.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := r.Projects.Get(ctx, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	uid, err := r.Projects.UID(request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	p := &pass{
		Reconciler: r, project: project.GetClient(), projectAPI: project.GetAPIReader(),
		projectName: request.ClusterName.String(), projectUID: uid, deployment: &v1alpha.WorkloadDeployment{},
	}
	if err := p.project.Get(ctx, request.NamespacedName, p.deployment); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	p.hubNamespace = p.deployment.Annotations[v1alpha.AnnotationFederationNamespace]
	if p.deployment.DeletionTimestamp.IsZero() {
		err := p.federate(ctx)
		return reconcile.Result{RequeueAfter: p.again}, err
	}
	return reconcile.Result{}, p.withdraw(ctx)
}

// federate brings the deployment to the hub.
func (p *pass) federate(ctx context.Context) error {
	if err := p.recordNamespace(ctx); err != nil {
		return err
	}
	p.namespaces.LockKey(p.hubNamespace)
	defer func() { _ = p.namespaces.UnlockKey(p.hubNamespace) }()
	return p.run(ctx, p.loadCells, p.ensureNamespace, p.ensureNamespaceInCells, p.ensurePolicy, p.ensureCopy)
}

// withdraw removes from the hub what the deployment put there, and lets it go when that is gone.
func (p *pass) withdraw(ctx context.Context) error {
	if !controllerutil.ContainsFinalizer(p.deployment, v1alpha.FinalizerFederator) {
		return nil
	}
	if p.hubNamespace != "" {
		p.namespaces.LockKey(p.hubNamespace)
		err := p.run(ctx, p.deleteCopy, p.deleteCity, p.deleteNamespace)
		_ = p.namespaces.UnlockKey(p.hubNamespace)
		if err != nil || p.waiting {
			return err
		}
	}
	return apply.ReleaseFinalizer(ctx, p.project, Owner, p.deployment, v1alpha.FinalizerFederator)
}

func (p *pass) run(ctx context.Context, steps ...step) error {
	for _, next := range steps {
		if err := next(ctx); err != nil || p.waiting {
			return err
		}
	}
	return nil
}

// recordNamespace writes on the deployment where on the hub it goes, before anything is written there: a deletion
// must find it without asking anybody.
func (p *pass) recordNamespace(ctx context.Context) error {
	if p.hubNamespace == "" {
		var namespace corev1.Namespace
		if err := p.projectAPI.Get(ctx, types.NamespacedName{Name: p.deployment.Namespace}, &namespace); err != nil {
			return fmt.Errorf("look up the UID of namespace %s in the project: %w", p.deployment.Namespace, err)
		}
		p.hubNamespace = v1alpha.HubNamespace(string(namespace.UID))
	}
	return apply.Metadata(ctx, p.project, Owner, p.deployment, metav1.ObjectMeta{
		Annotations: map[string]string{v1alpha.AnnotationFederationNamespace: p.hubNamespace},
		Finalizers:  []string{v1alpha.FinalizerFederator},
	})
}

// ensureCopy keeps the hub's copy what the project's original is, whoever else wrote to it.
func (p *pass) ensureCopy(ctx context.Context) error {
	desired := p.desiredCopy()
	existing := &v1alpha.WorkloadDeployment{}
	err := p.Hub.Get(ctx, client.ObjectKeyFromObject(desired), existing)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("get the hub's copy: %w", err)
	case !existing.DeletionTimestamp.IsZero():
		p.waiting = true
		return nil
	case existing.Labels[v1alpha.LabelDeploymentUID] != string(p.deployment.UID) && existing.Labels[v1alpha.LabelDeploymentUID] != "":
		// The copy of an earlier deployment of this name, whose finalizer was removed by force.
		return p.deleteStale(ctx, existing)
	}
	if desired.Spec.Assignment, err = p.assignment(ctx, existing); err != nil {
		return err
	}
	if existing.UID != "" && !apply.MetadataDiffers(existing, desired) && equality.Semantic.DeepEqual(existing.Spec, desired.Spec) {
		return nil
	}
	stored, err := apply.Object(ctx, p.Hub, Owner, desired)
	if err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(stored.Spec, desired.Spec) {
		return nil
	}
	return apply.ReplaceSpec(ctx, p.Hub, Owner, stored, desired.Spec)
}

func (p *pass) deleteStale(ctx context.Context, existing *v1alpha.WorkloadDeployment) error {
	p.waiting = true
	if err := p.Hub.Delete(ctx, existing, client.Preconditions{UID: &existing.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the copy of an earlier deployment: %w", err)
	}
	return nil
}

// deleteCopy deletes the hub's copy and waits for its end. The question is put to the hub itself: a cache that has
// not heard of the copy yet would let the finalizer go.
func (p *pass) deleteCopy(ctx context.Context) error {
	existing := &v1alpha.WorkloadDeployment{}
	err := p.Live.Get(ctx, types.NamespacedName{Namespace: p.hubNamespace, Name: p.deployment.Name}, existing)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get the hub's copy: %w", err)
	}
	p.waiting = true
	if !existing.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := p.Hub.Delete(ctx, existing, client.Preconditions{UID: &existing.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the hub's copy: %w", err)
	}
	return nil
}

// othersNeed says whether a deployment other than this one, in the project or on the hub, needs the hub namespace,
// or only one city of it when one is given.
func (p *pass) othersNeed(ctx context.Context, city string) (bool, error) {
	var originals, copies v1alpha.WorkloadDeploymentList
	if err := p.project.List(ctx, &originals, client.InNamespace(p.deployment.Namespace)); err != nil {
		return false, fmt.Errorf("list the project's deployments: %w", err)
	}
	if err := p.Live.List(ctx, &copies, client.InNamespace(p.hubNamespace)); err != nil {
		return false, fmt.Errorf("list the hub's deployments: %w", err)
	}
	for _, deployments := range [][]v1alpha.WorkloadDeployment{originals.Items, copies.Items} {
		for i := range deployments {
			other := &deployments[i]
			if other.Name == p.deployment.Name || !other.DeletionTimestamp.IsZero() {
				continue
			}
			if city == "" || v1alpha.CityLabel(other.Spec.CityCode) == v1alpha.CityLabel(city) {
				return true, nil
			}
		}
	}
	return false, nil
}
