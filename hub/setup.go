// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/agents"
	"github.com/karmada-compute/karmada-compute/hub/deployments"
	"github.com/karmada-compute/karmada-compute/hub/projection"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/propagation"
	"github.com/karmada-compute/karmada-compute/hub/references"
)

// Options configure the controllers.
type Options struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Locations says which cities a project may use.
	Locations projects.Locations
	// Concurrency is how many objects each controller reconciles at once.
	Concurrency int
	// ProjectConcurrency is how many of these may belong to one project, so that a project whose control plane hangs
	// does not hold every worker.
	ProjectConcurrency int
	// FailoverAfter is how long a cell may be lost before its Instances move to the other cells of its city; 0: they never
	// move.
	FailoverAfter time.Duration
	// Clock gives conditions their transition times and says how long a cell has been lost.
	Clock clock.PassiveClock
}

// reconcileTimeout bounds one reconcile: a control plane that does not answer ends it with an error, and the object is
// requeued.
const reconcileTimeout = 30 * time.Second

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
		{Name: "propagation", Setup: func(t Target) error {
			local := t.Manager.GetLocalManager()
			r := propagation.New(propagation.Options{
				Projects: t.Options.Projects, Hub: local.GetClient(), APIReader: local.GetAPIReader(),
				FailoverAfter: t.Options.FailoverAfter, Clock: t.Options.Clock,
			})
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "projection", Setup: func(t Target) error {
			r := &projection.Reconciler{Projects: t.Options.Projects, Hub: t.Manager.GetLocalManager().GetClient(), Clock: t.Options.Clock}
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "references", Setup: func(t Target) error {
			local := t.Manager.GetLocalManager()
			r := &references.Reconciler{
				Projects: t.Options.Projects, Hub: local.GetClient(), APIReader: local.GetAPIReader(), Clock: t.Options.Clock,
			}
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "agents", Setup: func(t Target) error {
			ready, err := agents.NewMetric(metrics.Registry)
			if err != nil {
				return err
			}
			local := t.Manager.GetLocalManager()
			return (&agents.Reconciler{Hub: local.GetClient(), Clock: t.Options.Clock, Ready: ready}).Register(local)
		}},
	}
}
