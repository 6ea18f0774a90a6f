// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"errors"
	"time"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-projection"

// Options are the dependencies of a Reconciler.
type Options struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Hub reads the hub from a cache.
	Hub client.Reader
	// APIReader reads the hub past the cache: Karmada's Events, while it does not send a copy.
	APIReader client.Reader
	// Karmada reports whether a karmada-controller-manager is running.
	Karmada *path.KarmadaWatch
	// Cities have events of the settings of cells. Nil: they have none.
	Cities *cells.Cities
	// Book records the findings on the paths of deployments.
	Book *path.Book
	// DoubtAfter is how long the path from a cell may be broken before the cell's last report counts as unknown. Faults
	// that Karmada reports about a cell count at once.
	DoubtAfter time.Duration
	// Ready measures how long deployments take to be available.
	Ready *Ready
	// Lag measures how long changes take to be shown.
	Lag *Lag
	// Ignored counts entries of reports that are not shown.
	Ignored *Ignored
	// Passing delays status writes for transient states. Nil: no write is delayed.
	Passing *pace.Writes[mcreconcile.Request]
	// Clock gives the conditions that the controller adds their transition times.
	Clock clock.PassiveClock
}

// Reconciler shows the cells' reports in a project. It is safe for concurrent use.
type Reconciler struct {
	Options
	shared *shared
}

// New returns a Reconciler.
func New(o Options) *Reconciler {
	return &Reconciler{Options: o, shared: newShared()}
}

// byDeployment indexes the projected Instances by the name of their deployment.
var byDeployment = projects.ByLabel{Object: &v1alpha.Instance{}, Label: v1alpha.LabelDeploymentName}

// Register adds the controllers of deployments and of their slices to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	if err := byDeployment.AddTo(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := r.registerSlices(mgr, options, wrap); err != nil {
		return err
	}
	events := path.Events{Hub: r.Hub, Karmada: r.Karmada, Cities: r.Cities, Later: r.DoubtAfter}
	built, err := events.Watch(mcbuilder.ControllerManagedBy(mgr).
		Named("projection").
		For(&v1alpha.WorkloadDeployment{}).
		// An Instance that was edited or deleted by hand is restored.
		Watches(&v1alpha.Instance{}, ofInstance(false)).
		Watches(&v1alpha.WorkloadDeployment{}, projects.OnHubEvent(projects.OfCopy),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false),
			mcbuilder.WithPredicates(watch.IgnoreStatusUpdates())).
		// The status reports why Karmada's scheduler finds no capacity.
		Watches(&workv1alpha2.ResourceBinding{}, projects.OnHubEvent(path.OfDeploymentBinding(r.Hub)),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false),
			mcbuilder.WithPredicates(path.RefusalChanged()))).
		WatchesRawSource(r.Book.Source()).
		WithOptions(options).
		Build(wrap(r.Reconcile))
	if err != nil {
		return err
	}
	return errors.Join(built.MultiClusterWatch(&r.shared.projects), built.MultiClusterWatch(&r.Ready.followed))
}
