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
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// blockedRequeue is the delay before a blocked deployment is reconciled again. Most often the event of a deletion comes
// first. No event comes if the object was created and deleted while the watch was interrupted: the cache has never seen
// it.
const blockedRequeue = 15 * time.Second

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	engaged    projects.Project
	project    client.Client
	projectAPI client.Reader
	// origin holds the marks of objects on the hub.
	origin     projects.Origin
	deployment *v1alpha.WorkloadDeployment
	// hubNamespace is the hub namespace of the deployment.
	hubNamespace string
	// hubNamespaceUID is known once the namespace was found or created, and proved to be the project's.
	hubNamespaceUID types.UID
	// namespaceUID is the UID of the namespace in the project, if it is known.
	namespaceUID types.UID
	// existing is the hub's copy that was loaded, empty if none exists, and nil before loading; desired is the desired
	// copy, and copied the copy once it matches.
	existing, desired, copied *v1alpha.WorkloadDeployment
	// adopted is the UID of the Workload on an earlier hub whose Instances the cells run; "": none.
	adopted types.UID
	// policy is the city's policy for the copy, as stored.
	policy *policyv1alpha1.PropagationPolicy
	// blocked ends the reconcile before its next step: an object is being deleted, another party holds the namespace,
	// or the owner of a copy is not proved gone.
	blocked bool
	// cells are the cells of the deployment's city, allCells the cells of every city.
	cells, allCells cells.Cells
	// owing are the cells of the city that have not removed an earlier namespace of the name of the hub namespace yet.
	owing []string
	// unusedCities are the cities in which the hub namespace has a policy, and no copy except the deployment's.
	unusedCities []string
	requeueAfter pace.After
}

// Reconcile propagates a WorkloadDeployment to the hub, or withdraws one that is being deleted. hub/collector
// withdraws copies without an original.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	s, err := r.newScope(ctx, request)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := s.project.Get(ctx, request.NamespacedName, s.deployment); err != nil {
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("get the deployment: %w", err)
	}
	steps := s.propagate
	if !s.deployment.DeletionTimestamp.IsZero() {
		steps = s.withdraw
	}
	if err := steps(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if s.blocked {
		s.requeueAfter.AtMost(blockedRequeue)
	}
	return s.requeueAfter.Result(), nil
}

func (r *Reconciler) newScope(ctx context.Context, request mcreconcile.Request) (*scope, error) {
	project, err := projects.Find(ctx, r.Projects, request.ClusterName)
	if err != nil {
		return nil, err
	}
	return &scope{
		Reconciler: r, engaged: project, project: project.GetClient(), projectAPI: project.GetAPIReader(),
		origin: project.Origin(request.Namespace), deployment: &v1alpha.WorkloadDeployment{},
	}, nil
}

// propagate copies the deployment to the hub.
func (s *scope) propagate(ctx context.Context) error {
	for _, step := range []func(context.Context) error{s.findPlace, s.recordNamespace} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return s.locked(ctx, s.loadCells, s.ensureNamespace, s.ensureGrant, s.ensureNamespaceInCells, s.findAdopted,
		s.decideCopy, s.tellOfRestore, s.ensurePolicy, s.ensureCopy, s.ensureSlices)
}

// withdraw removes the objects of the deployment from the hub, and then its finalizer. A deployment that its Workload
// still needs was deleted by mistake: it is recreated and adopts its copy, so that its Instances keep running.
func (s *scope) withdraw(ctx context.Context) error {
	if !controllerutil.ContainsFinalizer(s.deployment, v1alpha.FinalizerPropagation) {
		return nil
	}
	s.Namespaces.Forget(s.origin)
	wanted, err := s.Wanted(ctx, s.projectAPI, s.deployment)
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

// withdrawCopies removes the deployment's objects from the project's hub namespaces. There is more than one such
// namespace only if the namespace in the project was recreated.
func (s *scope) withdrawCopies(ctx context.Context) error {
	own, err := s.ownNamespaces(ctx)
	if err != nil {
		return err
	}
	if s.namespaceUID != "" && s.refuseNote() && len(own) > 0 {
		// Other controllers use the annotation as long as the deployment is being deleted.
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

// recordNamespace records the hub namespace on the deployment, and adds the finalizer, before anything is written to
// the hub.
func (s *scope) recordNamespace(ctx context.Context) error {
	if s.namespaceUID != "" {
		s.refuseNote()
	}
	return apply.AddMetadata(ctx, s.project, FieldManager, s.deployment, metav1.ObjectMeta{
		Annotations: map[string]string{v1alpha.AnnotationHubNamespace: s.hubNamespace},
		Finalizers:  []string{v1alpha.FinalizerPropagation},
	})
}

// ensure applies desired unless upToDate reports that existing, which it reads from the hub, needs no write. It returns
// the stored object, or nil if it wrote nothing. The scope is blocked while existing is being deleted.
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

// othersNeed reports whether another deployment, in the project or on the hub, needs the hub namespace; or, if city is
// not "", whether another one needs that city of it.
func (s *scope) othersNeed(ctx context.Context, city string) (bool, error) {
	needs := func(list *v1alpha.WorkloadDeploymentList) bool {
		return slices.ContainsFunc(list.Items, func(other v1alpha.WorkloadDeployment) bool {
			return other.Name != s.deployment.Name && other.DeletionTimestamp.IsZero() &&
				(city == "" || naming.CityLabel(other.Spec.CityCode) == naming.CityLabel(city))
		})
	}
	var copies v1alpha.WorkloadDeploymentList
	// That the cache has another one suffices; that it has none proves nothing.
	for _, project := range []client.Reader{s.project, s.projectAPI} {
		var originals v1alpha.WorkloadDeploymentList
		if err := project.List(ctx, &originals, client.InNamespace(s.deployment.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return false, fmt.Errorf("list the project's deployments: %w", err)
		}
		if needs(&originals) {
			return true, nil
		}
	}
	if err := s.APIReader.List(ctx, &copies, client.InNamespace(s.hubNamespace)); err != nil {
		return false, fmt.Errorf("list the hub's deployments: %w", err)
	}
	return needs(&copies), nil
}
