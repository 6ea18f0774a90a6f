// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// InventoryFieldManager is the field manager of this controller.
const InventoryFieldManager apply.FieldManager = "karmada-compute-inventory"

const (
	// looks limits the suspects that one pass asks projects about, and the missing deployments whose Works it reads.
	looks = 10
	// maxInterval is the longest time between two passes.
	maxInterval = 10 * time.Second
	// passTimeout bounds one pass: a control plane that does not answer ends it with an error.
	passTimeout = 30 * time.Second
)

// InventoryOptions configure an Inventory.
type InventoryOptions struct {
	// Owners decides whether the original of a deployment in a cell is gone.
	Owners *ownership.Owners
	// Existence says which projects exist, and which projects and cells this replica owns.
	Existence projects.Existence
	// Hub reads the hub from a cache and writes to it.
	Hub client.Client
	// APIReader reads the hub's API server.
	APIReader client.Reader
	// Repairer bounds and counts repairs and removals.
	Repairer *repairs.Repairer
	// After is how long cell and hub must disagree before the difference is investigated, and the minimum time between
	// two questions to a project about the same object. No object is removed before two answers.
	After time.Duration
	// Clock measures how long they have disagreed.
	Clock clock.Clock
	// Registerer registers the metric.
	Registerer prometheus.Registerer
}

// Inventory compares cells with the hub. Create it with NewInventory.
type Inventory struct {
	InventoryOptions
	identity *cells.Hub
	mismatch *prometheus.GaugeVec
	// cells is the state of each cell. Only Pass uses it.
	cells map[string]*cellState
	// agents are the faults of the agents' Works, with the time since which each exists. Only Pass uses it.
	agents map[agentFault]time.Time
	// left is the number of looks left in this pass.
	left int
}

// NewInventory returns an Inventory and registers its metric.
func NewInventory(o InventoryOptions) *Inventory {
	mismatch := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "karmada_compute_cell_inventory_mismatch",
		Help: "WorkloadDeployments and hub namespaces on which a cell and the hub disagree for longer than --inventory-after: " +
			"direction unexpected if only the cell has the object, missing if the cell lacks it.",
	}, []string{"cell", "direction"})
	o.Registerer.MustRegister(mismatch)
	return &Inventory{InventoryOptions: o, identity: cells.NewHub(o.APIReader), mismatch: mismatch, cells: map[string]*cellState{}}
}

// NeedLeaderElection returns false: every replica runs it, and Existence divides cells and projects.
func (i *Inventory) NeedLeaderElection() bool { return false }

// Start makes passes until ctx ends. It makes the Inventory a manager's Runnable.
func (i *Inventory) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("collector-inventory")
	ctx = log.IntoContext(ctx, logger)
	interval := min(max(i.After/6, time.Second), maxInterval)
	for {
		if err := i.Pass(ctx); err != nil && ctx.Err() == nil {
			logger.Error(err, "The inventory of a cell could not be compared; trying again", "after", interval)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-i.Clock.After(interval):
		}
	}
}

// Pass compares every cell with the hub once. It is for one goroutine.
func (i *Inventory) Pass(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	hub, err := i.identity.UID(ctx)
	if err != nil {
		return err
	}
	v, err := i.look(ctx, hub)
	if err != nil {
		return err
	}
	i.left = looks
	var failed []error
	for name := range i.cells {
		if _, exists := v.cells[name]; !exists {
			i.forget(name)
		}
	}
	for _, c := range v.cells {
		if err := i.passCell(ctx, v, c); err != nil {
			failed = append(failed, fmt.Errorf("cell %s: %w", c.name, err))
		}
	}
	return errors.Join(append(failed, i.cleanUp(ctx, v), i.repairAgents(ctx, v))...)
}

// forget forgets a cluster that is no longer a cell.
func (i *Inventory) forget(cell string) {
	delete(i.cells, cell)
	i.mismatch.DeletePartialMatch(prometheus.Labels{"cell": cell})
}
