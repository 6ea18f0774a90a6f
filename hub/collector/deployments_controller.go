// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/predicates"
)

// DeploymentsOptions configure Deployments.
type DeploymentsOptions struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Waker engages a project that has leftover objects on the hub. It may be nil.
	Waker projects.Waker
	// Hub reads the hub from a cache and writes to it.
	Hub client.Client
	// APIReader reads the hub's API server: a repair gets its object there before it changes or deletes it.
	APIReader client.Reader
	// Owners decides whether the original of leftover objects is gone.
	Owners *ownership.Owners
	// Withdraw deletes a copy whose original is proved gone, and what no deployment of its hub namespace needs. Only hub/propagation can
	// exclude that it propagates the next deployment at the same time.
	Withdraw func(context.Context, mcreconcile.Request) (reconcile.Result, error)
	// Karmada reports whether a karmada-controller-manager is running.
	Karmada *path.KarmadaWatch
	// Repairer bounds and counts repairs.
	Repairer *Repairer
	// Book records the findings on the paths of deployments.
	Book *path.Book
	// Interval is the time between two audits of a deployment without events. After is how long a fault must last
	// before it is repaired.
	Interval, After time.Duration
	// Clock measures how long a fault has lasted.
	Clock clock.PassiveClock
}

// Deployments repairs the paths of deployments. It is safe for concurrent use.
type Deployments struct {
	DeploymentsOptions
}

// NewDeployments returns Deployments.
func NewDeployments(o DeploymentsOptions) *Deployments {
	return &Deployments{DeploymentsOptions: o}
}

// Register adds the controller to a manager.
func (r *Deployments) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	events := path.Events{Hub: r.Hub, Karmada: r.Karmada, Later: r.After}
	built, err := events.Watch(mcbuilder.ControllerManagedBy(mgr).
		Named("audit").
		For(&v1alpha.WorkloadDeployment{}, mcbuilder.WithPredicates(predicates.IgnoreStatusUpdates())).
		Watches(&v1alpha.WorkloadDeployment{}, projects.OnHubEvent(projects.OfCopy),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false),
			mcbuilder.WithPredicates(predicates.IgnoreStatusUpdates()))).
		WatchesRawSource(r.leftovers(&events)).
		WithOptions(options).
		Build(wrap(r.Reconcile))
	if err != nil {
		return err
	}
	return built.MultiClusterWatch(r.Book.Engagements())
}

// hopeless is the number of repairs after which the consumer is informed.
const hopeless = 5

var faultsDesc = prometheus.NewDesc("karmada_compute_audit_faults",
	"Deployments of this replica's projects whose path to the cells has had a fault for too long, by fault.",
	[]string{"reason"}, nil)

// Faults is the metric of the lasting findings in a Book.
type Faults struct{ Book *path.Book }

// Describe describes the metric.
func (Faults) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- faultsDesc }

// Collect counts the findings.
func (f Faults) Collect(metrics chan<- prometheus.Metric) {
	for fault, count := range f.Book.Faults() {
		metrics <- prometheus.MustNewConstMetric(faultsDesc, prometheus.GaugeValue, float64(count), string(fault))
	}
}
