// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// extraCell is a cell that is added once, for the first scenario that needs it: most scenarios need none, and each
// takes a while to start.
type extraCell struct {
	federation.Cell
	once sync.Once
	err  error
	// taken holds one token while a scenario uses the cell alone.
	taken turns
}

func newExtraCells() map[string]*extraCell {
	cells := map[string]*extraCell{}
	for _, cell := range []federation.Cell{
		{Name: "iad-1", City: "IAD"},
		{Name: "iad-2", City: "IAD"},
		{Name: "lhr", City: "LHR", Pull: true},
		{Name: ContainersCell, City: "HOU", Containers: 2},
		{Name: "lax", City: "LAX", Containers: 1},
		{Name: "mia", City: "MIA", Containers: 1},
		// A member cluster by a name of Karmada's own documentation. The pages label it.
		{Name: "member1"},
	} {
		cells[cell.Name] = &extraCell{Cell: cell, taken: make(turns, 1)}
	}
	return cells
}

// Add adds the cell to the federation, if it does not exist yet.
func (c *extraCell) Add(ctx context.Context, w *World) error {
	c.once.Do(func() {
		begin := time.Now()
		if c.err = w.Federation.AddCell(ctx, c.Cell); c.err == nil && c.City != "" {
			c.err = w.AddOn.WaitAgent(ctx, c.Name)
		}
		if c.Containers > 0 && c.err == nil {
			c.err = w.openToAll(ctx, c.City)
		}
		fmt.Fprintf(w.Out, "cell %s added in %s\n", c.Name, time.Since(begin).Round(time.Millisecond))
	})
	return c.err
}

// openToAll permanently lets the shared projects use a city: scenarios use it at the same time.
func (w *World) openToAll(ctx context.Context, city string) error {
	if w.Federation.WithoutMilo() {
		return nil
	}
	for _, project := range sharedProjects {
		if err := w.Federation.BindLocation(ctx, project, city); err != nil {
			return err
		}
	}
	return nil
}

// TakeCells adds extra cells, if they do not exist yet, reserves them until this scenario's objects are deleted, and
// waits until Karmada knows that they are empty: they may be stopped, moved and made smaller. Scenarios take cells in
// the order of their names.
func (s *Scenario) TakeCells(ctx context.Context, names []string) error {
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(s.Taken, name) })
	for _, name := range names {
		cell, ok := s.Extra[name]
		if !ok {
			return fmt.Errorf("no cell %q is known", name)
		}
		if err := s.turns.yield(ctx, func(ctx context.Context) error { return cell.taken.take(ctx) }); err != nil {
			return err
		}
		s.Taken = append(s.Taken, name)
		s.Made.Add("cell "+name, func(context.Context) error { return cell.taken.give() })
	}
	var adding sync.WaitGroup
	problems := make([]error, len(names))
	for i, name := range names {
		adding.Go(func() {
			if problems[i] = s.Extra[name].Add(ctx, s.World); problems[i] == nil {
				problems[i] = s.Known(ctx, name, 1)
			}
		})
	}
	adding.Wait()
	s.watchCells()
	return errors.Join(problems...)
}

// Cells returns the cells that no other scenario may reserve and stop.
func (s *Scenario) Cells() []string {
	var cells []string
	for _, cell := range s.Federation.Cells() {
		if _, extra := s.Extra[cell.Name]; !extra || slices.Contains(s.Taken, cell.Name) {
			cells = append(cells, cell.Name)
		}
	}
	return cells
}

// Cluster returns the Karmada Cluster of a cell.
func (s *Scenario) Cluster(ctx context.Context, name string) (*clusterv1alpha1.Cluster, error) {
	c := s.Client("hub", Admin)
	cluster := &clusterv1alpha1.Cluster{}
	return cluster, c.Get(ctx, client.ObjectKey{Name: name}, cluster)
}

// ContainersCell is the cell whose nodes run containers, in the city HOU. Scenarios share it.
const ContainersCell = "hou"

// Known waits until Karmada knows a cell to be Ready and empty, each node with a part of its capacity. Karmada counts
// nodes by grades of their free capacity: a single Pod moves a node into a lower grade, which halves it.
func (s *Scenario) Known(ctx context.Context, cell string, divisor int64) error {
	c := s.Client("cell/"+cell, Admin)
	return Eventually(ctx, func(ctx context.Context) error {
		var nodes corev1.NodeList
		var agents corev1.PodList
		if err := errors.Join(c.List(ctx, &nodes), c.List(ctx, &agents, client.InNamespace(agentNamespace))); err != nil {
			return err
		}
		var room int64
		for i := range nodes.Items {
			capacity := nodes.Items[i].Status.Capacity.Cpu().MilliValue()
			if RunsInstances(&nodes.Items[i]) {
				capacity /= divisor
			}
			room += capacity
		}
		cluster, err := s.Cluster(ctx, cell)
		if err != nil {
			return err
		}
		summary := cluster.Status.ResourceSummary
		if summary == nil || !meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady) {
			return fmt.Errorf("Karmada does not know yet what cell %s has room for", cell)
		}
		runs := summary.Allocated.Pods().Value() + summary.Allocating.Pods().Value() - int64(len(agents.Items))
		if free := summary.Allocatable.Cpu().MilliValue(); runs != 0 || free != room || room == 0 {
			return fmt.Errorf("Karmada knows of %d Pods in cell %s and of room for %dm of %dm CPU", runs, cell, free, room)
		}
		return nil
	})
}

// agentNamespace is the namespace of the add-on's agents in the cells.
const agentNamespace = "karmada-compute-system"

// RunsInstances reports whether a node is for Instances. The add-on's agent has a separate node.
func RunsInstances(node *corev1.Node) bool { return node.Labels["type"] == "kwok" }
