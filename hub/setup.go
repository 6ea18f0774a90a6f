// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"maps"
	"sync"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments"
	"github.com/karmada-compute/karmada-compute/hub/federation"
	"github.com/karmada-compute/karmada-compute/hub/projection"
	"github.com/karmada-compute/karmada-compute/hub/references"
)

// Options configure the controllers.
type Options struct {
	// Projects are the projects that this replica owns.
	Projects Projects
	// Locations says which cities a project may use.
	Locations Locations
	// Concurrency is how many objects each controller looks at at once.
	Concurrency int
	// ProjectConcurrency is how many of these may belong to one project, so that a project whose control plane hangs
	// does not hold every worker.
	ProjectConcurrency int
	// FailoverAfter is how long a cell may be lost before what it runs moves to the other cells of its city; 0: for ever.
	FailoverAfter time.Duration
	// Clock stamps conditions and says how long a cell has been lost.
	Clock clock.PassiveClock
}

// reconcileTimeout bounds one look at one object: a control plane that does not answer ends it with an error, and
// the object is looked at again later.
const reconcileTimeout = 30 * time.Second

// ProjectKinds are what the controllers watch in a project.
func ProjectKinds(locations Locations) []client.Object {
	return []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}, locations.Object()}
}

// CacheOptions limit the cache of the hub to what the add-on has put there, and Clusters.
func CacheOptions() (cache.Options, error) {
	fromProject, err := labels.NewRequirement(v1alpha.LabelProject, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	ofNamespace, err := labels.NewRequirement(v1alpha.LabelHubNamespace, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	ofCity, err := labels.NewRequirement(v1alpha.LabelTopologyCity, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	with := func(r *labels.Requirement) cache.ByObject { return cache.ByObject{Label: labels.NewSelector().Add(*r)} }
	metadata := with(fromProject)
	metadata.Transform = onlyOurAnnotations
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha.WorkloadDeployment{}:       with(fromProject),
			&corev1.Namespace{}:                 with(fromProject),
			&workv1alpha1.Work{}:                with(ofNamespace),
			&policyv1alpha1.PropagationPolicy{}: with(ofCity),
			&clusterv1alpha1.Cluster{}:          {},
			&workv1alpha2.ResourceBinding{}:     {Transform: federation.TrimBinding},
			// Of these, controllers cache nothing but metadata.
			&corev1.ConfigMap{}: metadata,
			&corev1.Secret{}:    metadata,
		},
	}, nil
}

// onlyOurAnnotations drops annotations of others: kubectl writes all of a Secret that it applied into one.
func onlyOurAnnotations(obj any) (any, error) {
	held, ok := obj.(client.Object)
	if !ok {
		return obj, nil
	}
	held.SetManagedFields(nil)
	annotations := held.GetAnnotations()
	maps.DeleteFunc(annotations, func(key, _ string) bool { return key != v1alpha.AnnotationProjectName })
	held.SetAnnotations(annotations)
	return obj, nil
}

// Controller is one of the hub's controllers, by the name that --controllers knows.
type Controller struct {
	// Name of the controller.
	Name string
	// Setup adds it to a manager.
	Setup func(Target) error
}

// Target is what controllers are set up with.
type Target struct {
	// Manager runs them.
	Manager mcmanager.Manager
	// Options are for all of them.
	Options Options
}

func (t Target) controller() mccontroller.Options {
	return mccontroller.Options{MaxConcurrentReconciles: t.Options.Concurrency, ReconciliationTimeout: reconcileTimeout}
}

func (t Target) wrap(f mcreconcile.Func) mcreconcile.Func {
	return limitPerProject(f, t.Options.ProjectConcurrency)
}

// Controllers are all of the hub's controllers.
func Controllers() []Controller {
	return []Controller{
		{Name: "deployments", Setup: func(t Target) error {
			r := &deployments.Reconciler{Projects: t.Options.Projects, Locations: t.Options.Locations, Clock: t.Options.Clock}
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "federation", Setup: func(t Target) error {
			local := t.Manager.GetLocalManager()
			r := &federation.Reconciler{
				Projects: t.Options.Projects, Hub: local.GetClient(), Live: local.GetAPIReader(),
				FailoverAfter: t.Options.FailoverAfter, Clock: t.Options.Clock,
			}
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "projection", Setup: func(t Target) error {
			r := &projection.Reconciler{Projects: t.Options.Projects, Hub: t.Manager.GetLocalManager().GetClient(), Clock: t.Options.Clock}
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "references", Setup: func(t Target) error {
			local := t.Manager.GetLocalManager()
			r := &references.Reconciler{
				Projects: t.Options.Projects, Hub: local.GetClient(), Live: local.GetAPIReader(), Clock: t.Options.Clock,
			}
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
	}
}

// busyRetry is when an object is looked at again whose project has all the workers it may have.
const busyRetry = 200 * time.Millisecond

// conflictRetry is when an object is looked at again that changed while it was looked at.
const conflictRetry = 50 * time.Millisecond

// limitPerProject lets at most limit objects of one project be looked at at once.
func limitPerProject(f mcreconcile.Func, limit int) mcreconcile.Func {
	var mu sync.Mutex
	running := map[multicluster.ClusterName]int{}
	enter := func(project multicluster.ClusterName) bool {
		mu.Lock()
		defer mu.Unlock()
		if running[project] >= limit {
			return false
		}
		running[project]++
		return true
	}
	leave := func(project multicluster.ClusterName) {
		mu.Lock()
		defer mu.Unlock()
		if running[project]--; running[project] == 0 {
			delete(running, project)
		}
	}
	return func(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
		if !enter(request.ClusterName) {
			return reconcile.Result{RequeueAfter: busyRetry}, nil
		}
		defer leave(request.ClusterName)
		result, err := f(ctx, request)
		if apierrors.IsConflict(err) {
			// Somebody else wrote first and the cache has not heard of it yet: nothing is wrong.
			return reconcile.Result{RequeueAfter: conflictRetry}, nil
		}
		return result, err
	}
}
