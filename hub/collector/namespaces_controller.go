// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

const (
	// recheck is the approximate interval between reconciles of a hub namespace without an event. A reconcile reads
	// only the caches, unless the watch of the Projects does not know the project.
	recheck = 5 * time.Minute
	// questionsPerSecond bounds the questions to Milo's root about projects that the watch does not know.
	questionsPerSecond = 5
)

// NamespacesOptions configure Namespaces.
type NamespacesOptions struct {
	// Projects reports which projects exist.
	Projects projects.Roster
	// Hub reads the hub from a cache and writes to it.
	Hub client.Client
	// APIReader reads the hub's API server, to get the present objects before any is deleted.
	APIReader client.Reader
	// Owners decides whether a project is gone.
	Owners *ownership.Owners
	// Grants maintains the rights of the add-on in each hub namespace.
	Grants *projects.Grants
	// After is how long Milo must report a project as absent before the project is withdrawn.
	After time.Duration
	// Clock is the time of the answers.
	Clock clock.PassiveClock
	// Registerer registers the metrics.
	Registerer prometheus.Registerer
}

// Namespaces withdraws the leftover objects of deleted projects in hub namespaces. It is safe for concurrent use.
type Namespaces struct {
	NamespacesOptions
	questions flowcontrol.PassiveRateLimiter
	withdrawn prometheus.Counter

	// patience counts the answers that the project of a hub namespace does not exist. Annotations have them for the next
	// process.
	patience *ownership.Patience
}

// NewNamespaces returns Namespaces, and registers its metrics.
func NewNamespaces(o NamespacesOptions) *Namespaces {
	r := &Namespaces{
		NamespacesOptions: o,
		questions:         flowcontrol.NewTokenBucketPassiveRateLimiter(questionsPerSecond, 2*questionsPerSecond),
		patience:          ownership.NewPatience(o.After, o.Clock),
		withdrawn: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "karmada_compute_projects_withdrawn_total",
			Help: "Hub namespaces whose contents were withdrawn because their project no longer exists.",
		}),
	}
	left := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "karmada_compute_projects_gone",
		Help: "Hub namespaces of this replica whose project does not exist and that are not withdrawn yet.",
	}, func() float64 { doubted, _ := r.patience.Counts(); return float64(doubted) })
	held := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "karmada_compute_projects_held",
		Help: "Hub namespaces of this replica whose project does not exist and whose withdrawal waits for an operator, because " +
			"so many projects are gone that the API server of the projects itself is in doubt.",
	}, func() float64 { _, held := r.patience.Counts(); return float64(held) })
	o.Registerer.MustRegister(r.withdrawn, left, held)
	return r
}

// Register adds the controller to a manager of the hub.
func (r *Namespaces) Register(mgr ctrl.Manager, options controller.Options) error {
	// Every replica has its own projects.
	options.NeedLeaderElection = new(false)
	return ctrl.NewControllerManagedBy(mgr).Named("collector-namespaces").
		For(&corev1.Namespace{}, builder.WithPredicates(predicate.NewPredicateFuncs(projects.IsMarked))).
		// A namespace is deleted after the last copy in it.
		Watches(&v1alpha.WorkloadDeployment{}, handler.EnqueueRequestsFromMapFunc(namespaceOf), builder.WithPredicates(watch.OnlyDeletions())).
		WatchesRawSource(source.Func(r.changes)).
		WithOptions(options).
		Complete(r)
}

func namespaceOf(_ context.Context, obj client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: obj.GetNamespace()}}}
}

// changes requests the hub namespaces of a project that is gone or was recreated, and all of them when this replica
// acquires projects.
func (r *Namespaces) changes(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	projects.Follow(ctx, r.Projects.OnChange, func(project string) {
		for _, name := range r.namespacesOf(ctx, project) {
			queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
		}
	})
	return nil
}

// namespacesOf returns the names of a project's hub namespaces, of every project for "".
func (r *Namespaces) namespacesOf(ctx context.Context, project string) []string {
	selector := []client.ListOption{client.HasLabels{v1alpha.LabelProjectUID}, client.UnsafeDisableDeepCopy}
	if project != "" {
		selector = append(selector, client.MatchingLabels{v1alpha.LabelProject: naming.ProjectLabel(project)})
	}
	var namespaces corev1.NamespaceList
	if err := r.Hub.List(ctx, &namespaces, selector...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to list the hub namespaces of a changed project; they are reconciled later", "after", recheck)
		return nil
	}
	var names []string
	for i := range namespaces.Items {
		if name := projects.NameOf(&namespaces.Items[i]); r.Projects.Owns(naming.ProjectKey(name.String())) {
			names = append(names, namespaces.Items[i].Name)
		}
	}
	return names
}
