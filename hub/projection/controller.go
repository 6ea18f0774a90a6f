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
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/coalesce"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-projection"

// Options are what a Reconciler works with.
type Options struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Hub reads the hub from a cache.
	Hub client.Reader
	// Karmada says whether a karmada-controller-manager is at work.
	Karmada *path.KarmadaWatch
	// Book remembers what was found on the paths of deployments.
	Book *path.Book
	// DoubtAfter is how long the way from a cell may be interrupted before what it reported last counts as unknown. What Karmada
	// says of a cell counts at once.
	DoubtAfter time.Duration
	// Ready measures how long deployments take to be available.
	Ready *Ready
	// Lag measures how long changes take to be shown.
	Lag *Lag
	// Ignored counts entries of reports that are not shown.
	Ignored *Ignored
	// Passing are the writes that tell of a deployment on the way to another state. Nil: none of them waits.
	Passing *coalesce.Writes[mcreconcile.Request]
	// Clock gives the conditions that no cell reports their transition times.
	Clock clock.PassiveClock
}

// Reconciler shows in a project what its cells report. It is safe for concurrent use.
type Reconciler struct {
	Options
	shared *shared
}

// New returns a Reconciler.
func New(o Options) *Reconciler {
	return &Reconciler{Options: o, shared: newShared()}
}

// byDeployment has the projected Instances of all deployments of a name.
var byDeployment = projects.ByLabel{Object: &v1alpha.Instance{}, Label: v1alpha.LabelDeploymentName}

// Register adds the controllers to a manager: that of deployments, and that of their slices.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	if err := byDeployment.AddTo(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := r.registerSlices(mgr, options, wrap); err != nil {
		return err
	}
	events := path.Events{Hub: r.Hub, Karmada: r.Karmada, Later: r.DoubtAfter}
	built, err := events.Watch(mcbuilder.ControllerManagedBy(mgr).
		Named("projection").
		For(&v1alpha.WorkloadDeployment{}).
		// An Instance that was edited or deleted by hand is restored.
		Watches(&v1alpha.Instance{}, ofInstance(false)).
		Watches(&v1alpha.WorkloadDeployment{}, projects.OnHubEvent(projects.OfCopy),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false)).
		// The status says why Karmada's scheduler finds no room.
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
