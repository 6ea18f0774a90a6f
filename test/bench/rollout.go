// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// rolloutCities are the cities of the benchmark, in the order in which a rollout goes through them.
var rolloutCities = []string{"AMS", "DFW", "LHR", "ORD", "SIN"}

type rolloutOptions struct {
	instances         []int
	cityCount, rounds int
	unavailable       string
	batch             string
	deadline          time.Duration
	start             time.Duration
}

func rolloutCommand() *cobra.Command {
	var o rolloutOptions
	cmd := &cobra.Command{
		Use:   "rollout",
		Short: "Measure the rollout of a new template to a Workload in several cities, and the writes to the hub for it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(o.instances) == 0 || !slices.IsSorted(o.instances) || o.instances[0] < o.cityCount {
				return errors.New("--instances: use ascending numbers that are not below --cities")
			}
			if o.cityCount < 1 || o.cityCount > len(rolloutCities) || o.rounds < 1 || o.deadline <= 0 || o.start < 0 {
				return fmt.Errorf("--cities: use 1 to %d; --rounds, --deadline: use values above 0; --start: use none below 0", len(rolloutCities))
			}
			return runRollout(cmd, &o)
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&o.instances, "instances", []int{100, 1000}, "how many Instances the Workload has, in all cities together; ascending")
	flags.IntVar(&o.cityCount, "cities", len(rolloutCities), "in how many cities, each with a cell")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each rollout is measured")
	flags.StringVar(&o.unavailable, "max-unavailable", "25%", "maxUnavailable of the Workload and of the StatefulSets")
	flags.StringVar(&o.batch, "batch", "10%", "batch of the rollout in batches; empty: none is measured")
	flags.DurationVar(&o.start, "start", 0,
		"how long a Pod takes to start, of the Workload and of the StatefulSets; 0: it is ready as soon as it is bound")
	flags.DurationVar(&o.deadline, "deadline", 10*time.Minute, "after how long a rollout that is not complete is a failure")
	return cmd
}

// rolloutMode is a way to go through the cities.
type rolloutMode struct {
	name string
	// atOnce is how many cities are updated at once, batch the field of the same name; "": a city is one batch.
	atOnce int
	batch  string
	// floor is set if StatefulSets can be updated in this way.
	floor bool
}

func (o *rolloutOptions) modes() []rolloutMode {
	modes := []rolloutMode{{name: "city after city", atOnce: 1, floor: true}}
	if o.cityCount > 1 {
		modes = append(modes, rolloutMode{name: "all cities at once", atOnce: o.cityCount, floor: true})
	}
	if o.batch != "" {
		modes = append(modes, rolloutMode{name: "batches of " + o.batch, atOnce: 1, batch: o.batch})
	}
	return modes
}

// members returns a cell for each city, with nodes for the Pods of the floor and of the Workload, and for additional
// ones.
func (o *rolloutOptions) members() []federation.Cell {
	const perNode = 200
	nodes := 2*(o.instances[len(o.instances)-1]/o.cityCount+1)/perNode + 1
	var cells []federation.Cell
	for _, code := range rolloutCities[:o.cityCount] {
		cells = append(cells, federation.Cell{
			Name: strings.ToLower(code), City: code, Controllers: []string{"statefulset-controller"}, Nodes: nodes, StartTime: o.start,
		})
	}
	return cells
}

// rolloutReports are the tables of the command.
type rolloutReports struct{ times, writes, kinds, everywhere, costs *report }

func newRolloutReports(cmd *cobra.Command, o *rolloutOptions) *rolloutReports {
	r := &rolloutReports{
		times: newReport(cmd, "Rollout of a new template", "", "Instances", "floor", "bare writes", "to floor", "Workload",
			"to floor", "CPU floor", "CPU bare writes", "to floor", "CPU Workload", "to floor"),
		writes: newReport(cmd, "Writes to the hub of a rollout", "", "Instances", "steps", "add-on", "Karmada",
			"add-on per city", "Karmada per city", "all per step", "all per Instance"),
		kinds: newReport(cmd, "Writes to the hub of a rollout, by kind", "", "Instances", "user", "verb", "resource", "writes"),
		everywhere: newReport(cmd, "Writes to every plane per Instance of a rollout", "", "Instances", "plane", "user",
			"verb", "resource", "floor", "Workload"),
		costs: newReport(cmd, "CPU time per Instance of a rollout", "", "process", "floor", "bare writes", "Workload", "to floor"),
	}
	r.times.note("Floor: a StatefulSet in each city that bare Karmada propagates to the same cells, with "+
		"podManagementPolicy Parallel and maxUnavailable %s (feature gate MaxUnavailableStatefulSet), from the change of the "+
		"first one on the hub until all Pods of all are Ready with the new template in the cells and the hub shows their "+
		"number. City after city: the next one is changed when the one before is complete. Ours: from the change of the "+
		"template in the project until the project shows the rollout as Complete; it gives the template to one Instance first. "+
		"Pods take %s to start. Median of %d, and the range.", o.unavailable, o.start, o.rounds)
	r.times.note("Bare writes: the floor, and at the same time two writes for each Instance in its cell and in the project, " +
		"by plain clients that do nothing else, of a kind that no controller watches: its template and its status. No " +
		"implementation that shows Instances writes less.")
	r.times.note("CPU time: of all processes, until the hub is at rest again, less what they take at rest in that time.")
	r.everywhere.note("The writes to the cells are counted together. Kinds with less than one write for ten Instances are left out.")
	r.writes.note("All writes to the hub from the change until the hub is at rest, without Leases, Events, the status of "+
		"Clusters and refused writes. Steps: writes of the spec of a deployment on the hub, including the one to the first "+
		"Instance. Median of %d.", o.rounds)
	return r
}

func (r *rolloutReports) write(cmd *cobra.Command) error {
	var errs []error
	for _, table := range []*report{r.times, r.writes, r.kinds, r.everywhere, r.costs} {
		errs = append(errs, table.write(cmd.OutOrStdout()))
	}
	return errors.Join(errs...)
}

func runRollout(cmd *cobra.Command, o *rolloutOptions) error {
	reports := newRolloutReports(cmd, o)
	progress := newProgress(cmd)
	s := &stage{
		out: cmd.ErrOrStderr(), cells: o.members(), featureGates: "MaxUnavailableStatefulSet=true",
		addOnOptions: federation.AddOnOptions{Replicas: 1},
	}
	err := s.with(cmd.Context(), func(ctx context.Context, s *stage) error {
		b, err := s.openRollout(ctx, o)
		if err != nil {
			return err
		}
		b.progress = progress
		for _, instances := range o.instances {
			progress.printf("%d Instances are created", instances)
			if err := b.resize(ctx, instances); err != nil {
				return err
			}
			if err := b.measureIdle(ctx); err != nil {
				return err
			}
			if err := b.measureAll(ctx, reports); err != nil {
				return err
			}
		}
		return nil
	})
	// Measurements from before a failure are useful, too.
	return errors.Join(err, reports.write(cmd))
}

// measureAll measures each mode, the modes in turn in each round.
func (b *rolloutBench) measureAll(ctx context.Context, into *rolloutReports) error {
	modes := b.modes()
	results := make([]rolloutResults, len(modes))
	for round := range b.rounds {
		for i, mode := range modes {
			if err := b.measure(ctx, mode, &results[i]); err != nil {
				return fmt.Errorf("%s, %d Instances, round %d: %w", mode.name, b.size, round+1, err)
			}
			b.progress.printf("%d Instances, round %d, %s: %s", b.size, round+1, mode.name, &results[i])
		}
	}
	for i, mode := range modes {
		results[i].report(into, mode, b)
	}
	return nil
}

// measure measures one rollout of the floor, one with bare writes and one of the Workload. Each begins when the hub is
// at rest.
func (b *rolloutBench) measure(ctx context.Context, mode rolloutMode, into *rolloutResults) error {
	if mode.floor {
		floor, err := b.one(ctx, func(ctx context.Context) error { return b.rollFloor(ctx, mode) })
		if err != nil {
			return fmt.Errorf("floor: %w", err)
		}
		into.floor = append(into.floor, floor)
		bare, err := b.one(ctx, func(ctx context.Context) error {
			both, ctx := errgroup.WithContext(ctx)
			both.Go(func() error { return b.rollFloor(ctx, mode) })
			both.Go(func() error { return b.bare.roll(ctx) })
			return both.Wait()
		})
		if err != nil {
			return fmt.Errorf("bare writes: %w", err)
		}
		into.bare = append(into.bare, bare)
	}
	ours, err := b.one(ctx, func(ctx context.Context) error { return b.rollWorkload(ctx, mode) })
	if err != nil {
		return err
	}
	into.ours = append(into.ours, ours)
	return nil
}

// idleFor is how long the CPU time at rest is measured.
const idleFor = 15 * time.Second

// measureIdle measures what the processes take at rest. A rollout that takes longer would otherwise seem to cost more
// CPU time, with all these processes on one machine.
func (b *rolloutBench) measureIdle(ctx context.Context) error {
	if err := b.rest(ctx); err != nil {
		return err
	}
	before := b.cpu()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(idleFor):
	}
	b.idle = b.cpu().since(before)
	b.progress.printf("at rest all processes take %.2f s of CPU time in %s", b.idle.total().Seconds(), idleFor)
	return nil
}

// one measures one rollout.
func (b *rolloutBench) one(ctx context.Context, roll func(context.Context) error) (rolloutResult, error) {
	if err := b.rest(ctx); err != nil {
		return rolloutResult{}, err
	}
	b.template++
	cpu, begin := b.cpu(), time.Now()
	if err := roll(ctx); err != nil {
		return rolloutResult{}, err
	}
	result := rolloutResult{took: time.Since(begin)}
	if err := b.rest(ctx); err != nil {
		return result, err
	}
	result.cpu = b.cpu().since(cpu).above(b.idle, time.Since(begin).Seconds()/idleFor.Seconds())
	var err error
	if result.everywhere, err = b.allWrites(begin); err != nil {
		return result, err
	}
	result.writes, err = b.hubWrites(begin)
	return result, err
}
