// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"fmt"
	"slices"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/requeue"
)

// blockedRequeue is when a blocked deployment is reconciled again. Most often the event of a deletion comes first. There is no event
// when the object was created and deleted while the watch was interrupted: the cache has never seen it.
const blockedRequeue = 15 * time.Second

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	of         projects.Project
	project    client.Client
	projectAPI client.Reader
	// origin is what objects on the hub are marked with.
	origin     projects.Origin
	deployment *v1alpha.WorkloadDeployment
	// hubNamespace is the hub namespace of the deployment.
	hubNamespace string
	// hubNamespaceUID is known when that was found or created, and proved to be the project's.
	hubNamespaceUID types.UID
	// namespaceUID is the UID of the namespace in the project, where that is known.
	namespaceUID types.UID
	// existing is the hub's copy as it was loaded, empty when there is none, and nil before that; desired is what it
	// should be, and copied is the copy once it is that.
	existing, desired, copied *v1alpha.WorkloadDeployment
	// policy is the city's policy for the copy, as stored.
	policy *policyv1alpha1.PropagationPolicy
	// blocked ends the reconcile before its next step: an object is being deleted, another party holds the namespace, or the owner of a
	// copy is not proved gone.
	blocked bool
	// cells are the cells of the deployment's city, allCells those of every city.
	cells, allCells cells.Cells
	// owing are the cells of the city that have not removed an earlier namespace of the name of the hub namespace yet.
	owing        []string
	requeueAfter requeue.After
}

// Reconcile brings a WorkloadDeployment to the hub, or removes it from there when it is being deleted.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := projects.Find(ctx, r.Projects, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := &scope{
		Reconciler: r, of: project, project: project.GetClient(), projectAPI: project.GetAPIReader(),
		origin: project.Origin(request.Namespace), deployment: &v1alpha.WorkloadDeployment{},
	}
	steps, err := s.load(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := steps(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if s.blocked && s.deployment.UID != "" {
		// Nothing waits for the end of a copy without original.
		s.requeueAfter.AtMost(blockedRequeue)
	}
	return s.requeueAfter.Result(), nil
}

// load reads the deployment and returns what to do with it.
func (s *scope) load(ctx context.Context, name types.NamespacedName) (steps func(context.Context) error, err error) {
	if isOfNamespace(name) {
		return s.withdrawWithoutOriginal(name), nil
	}
	switch err := s.project.Get(ctx, name, s.deployment); {
	case apierrors.IsNotFound(err):
		return s.withdrawWithoutOriginal(name), nil
	case err != nil:
		return nil, fmt.Errorf("get the deployment: %w", err)
	}
	if !s.deployment.DeletionTimestamp.IsZero() {
		return s.withdraw, nil
	}
	return s.propagate, nil
}

// propagate brings the deployment to the hub.
func (s *scope) propagate(ctx context.Context) error {
	for _, step := range []func(context.Context) error{s.findPlace, s.recordNamespace} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return s.locked(ctx, s.loadCells, s.ensureNamespace, s.ensureGrant, s.ensureNamespaceInCells, s.decideCopy, s.ensurePolicy, s.ensureCopy, s.ensureSlices)
}

// withdraw removes from the hub what the deployment put there, and then its finalizer. A deployment that its Workload still
// wants was deleted by mistake: it is made again and adopts its copy, so that what runs goes on.
func (s *scope) withdraw(ctx context.Context) error {
	if !controllerutil.ContainsFinalizer(s.deployment, v1alpha.FinalizerPropagation) {
		return nil
	}
	wanted, err := s.Wanted(ctx, s.project, s.deployment)
	if err != nil {
		return err
	}
	if !wanted {
		if err := s.withdrawCopies(ctx); err != nil || s.blocked {
			return err
		}
	}
	return apply.RemoveFinalizer(ctx, s.project, FieldManager, s.deployment, v1alpha.FinalizerPropagation)
}

// withdrawCopies removes what the deployment has in the project's hub namespaces. There is more than one of them only
// after a return to an earlier version.
func (s *scope) withdrawCopies(ctx context.Context) error {
	own, err := s.ownNamespaces(ctx)
	if err != nil {
		return err
	}
	if s.namespaceUID != "" && s.refuseNote(s.origin.HubNamespaces(s.namespaceUID)...) && len(own) > 0 {
		// Others go by the annotation for as long as the deployment is being deleted.
		err := apply.AddMetadata(ctx, s.project, FieldManager, s.deployment, metav1.ObjectMeta{
			Annotations: map[string]string{v1alpha.AnnotationHubNamespace: own[0].Name},
		})
		if err != nil {
			return err
		}
	}
	for i := range own {
		s.use(&own[i])
		if err := s.locked(ctx, s.deleteCopy, s.releaseNetworks, s.deleteCity, s.deleteNamespace); err != nil || s.blocked {
			return err
		}
	}
	if len(own) == 0 {
		return s.releaseNetworks(ctx)
	}
	return nil
}

// locked runs steps in their order, until one fails or has to wait, with the hub namespace locked.
func (s *scope) locked(ctx context.Context, steps ...func(context.Context) error) error {
	s.namespaces.LockKey(s.hubNamespace)
	// UnlockKey always returns nil.
	defer func() { _ = s.namespaces.UnlockKey(s.hubNamespace) }()
	for _, step := range steps {
		if err := step(ctx); err != nil || s.blocked {
			return err
		}
	}
	return nil
}

// recordNamespace notes the hub namespace on the deployment, and adds the finalizer, before anything is written to the
// hub.
func (s *scope) recordNamespace(ctx context.Context) error {
	if s.namespaceUID != "" {
		s.refuseNote(s.origin.HubNamespaces(s.namespaceUID)...)
	}
	return apply.AddMetadata(ctx, s.project, FieldManager, s.deployment, metav1.ObjectMeta{
		Annotations: map[string]string{v1alpha.AnnotationHubNamespace: s.hubNamespace},
		Finalizers:  []string{v1alpha.FinalizerPropagation},
	})
}

// ensure applies desired unless upToDate says that existing, which it reads from the hub, needs no write. It returns the
// object as stored, or nil when it wrote nothing. The scope is blocked while existing is being deleted.
func (s *scope) ensure(ctx context.Context, desired, existing client.Object, upToDate func() bool) (client.Object, error) {
	switch err := s.Hub.Get(ctx, client.ObjectKeyFromObject(desired), existing); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return nil, fmt.Errorf("get %T %s of the hub: %w", desired, client.ObjectKeyFromObject(desired), err)
	case !existing.GetDeletionTimestamp().IsZero():
		s.blocked = true
		return nil, nil
	case upToDate():
		return nil, nil
	}
	return apply.Object(ctx, s.Hub, FieldManager, desired)
}

// othersNeed says whether another deployment, in the project or on the hub, needs the hub namespace; or, when city is not
// "", whether another one needs that city of it.
func (s *scope) othersNeed(ctx context.Context, city string) (bool, error) {
	needs := func(list *v1alpha.WorkloadDeploymentList) bool {
		return slices.ContainsFunc(list.Items, func(other v1alpha.WorkloadDeployment) bool {
			return other.Name != s.deployment.Name && other.DeletionTimestamp.IsZero() &&
				(city == "" || naming.CityLabel(other.Spec.CityCode) == naming.CityLabel(city))
		})
	}
	var originals, copies v1alpha.WorkloadDeploymentList
	if err := s.project.List(ctx, &originals, client.InNamespace(s.deployment.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list the project's deployments: %w", err)
	}
	if needs(&originals) {
		return true, nil
	}
	if err := s.APIReader.List(ctx, &copies, client.InNamespace(s.hubNamespace)); err != nil {
		return false, fmt.Errorf("list the hub's deployments: %w", err)
	}
	return needs(&copies), nil
}
