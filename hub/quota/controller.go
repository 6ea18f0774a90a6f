// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
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
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-quota"

// Existence reports whether a project exists.
type Existence interface {
	// Lookup asks Milo's root. found is false only if Milo has answered that there is no such project.
	Lookup(ctx context.Context, name string) (uid types.UID, found bool, err error)
}

// Options are the dependencies of a Reconciler.
type Options struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Existence distinguishes a deleted project from a deleted namespace. It may be nil.
	Existence Existence
	// Hub reads copies from a cache and writes to the hub.
	Hub client.Client
	// Clock determines when denied quota is claimed again.
	Clock clock.PassiveClock
	// Registerer registers the metrics of withheld Instances and their waiting times.
	Registerer prometheus.Registerer
}

// Reconciler claims quota for the Instances of deployments whose copies have a quota: hub/propagation sets one for
// projects that need quota. It is safe for concurrent use.
type Reconciler struct {
	Options
	claims projects.Store[*projectClaims]
	memory *memory
	waits  *waits
}

// New returns a Reconciler, and registers its metrics.
func New(o Options) *Reconciler {
	r := &Reconciler{Options: o, memory: newMemory(), waits: newWaits()}
	r.claims.New = func(e projects.Engagement) *projectClaims { return &projectClaims{Engagement: e} }
	r.claims.Dropped = func(claims *projectClaims) {
		r.memory.forget(claims.Project)
		r.waits.forget(claims.Project)
	}
	o.Registerer.MustRegister(r.memory.withheld, r.waits.seconds)
	return r
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	built, err := mcbuilder.ControllerManagedBy(mgr).
		Named("quota").
		For(&v1alpha.WorkloadDeployment{}, mcbuilder.WithPredicates(watch.IgnoreStatusUpdates())).
		// A grant that was edited by hand is corrected; the assignment determines the desired Instances, and the cells'
		// reports show which ones are gone.
		Watches(&v1alpha.WorkloadDeployment{}, projects.OnHubEvent(projects.OfCopy),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false),
			mcbuilder.WithPredicates(watch.IgnoreStatusUpdates())).
		Watches(&workv1alpha1.Work{}, projects.OnHubEvent(path.OfWork),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false),
			mcbuilder.WithPredicates(path.ReportChanged(sameReport))).
		WithOptions(options).
		Build(wrap(r.Reconcile))
	if err != nil {
		return err
	}
	// The source reports Milo's answers and consumers' changes of claims.
	return built.MultiClusterWatch(&r.claims)
}

// sameReport reports whether a cell reports the same Instances as before. It compares strings: parsing the indices of
// thousands of Instances at every change would cost more than the reconcile.
func sameReport(before, after *path.Report) bool {
	a, b := before.Facts(), after.Facts()
	return before.SameGenerations(after) &&
		a.Existing == b.Existing && a.Held == b.Held && a.TemplateHash == b.TemplateHash && a.Current == b.Current
}
