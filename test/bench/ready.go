// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

type readyOptions struct {
	n, warmup, burst int
	deadline         time.Duration
	// pause is the time before each of those one after the other.
	pause time.Duration
	// independentFloor makes the floor propagate without its dependencies.
	independentFloor bool
	// service measures Workloads with a Service, too.
	service bool
	// timeline prints the requests of the last object of each kind.
	timeline bool
}

func readyCommand() *cobra.Command {
	var o readyOptions
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "Measure the time from a Workload's creation until its Instance is Ready in the project, one after the other and in a burst",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.pause < 0 || min(o.n, o.burst) < 1 || o.warmup < 0 || o.deadline <= 0 {
				return errors.New("--n, --burst, --deadline: use values above 0; --warmup, --pause: use 0 or more")
			}
			return runReady(cmd, &o)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func (o *readyOptions) addFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.n, "n", 25, "how many are measured one after the other")
	flags.IntVar(&o.warmup, "warmup", 3, "how many come before the measurement")
	flags.DurationVar(&o.pause, "pause", 0,
		"time before each of those one after the other: with 0, what the planes do after one is Ready takes CPU time from the next")
	flags.IntVar(&o.burst, "burst", 60, "how many are created at once")
	flags.BoolVar(&o.independentFloor, "independent-floor", false,
		"propagate the floor by a policy without propagateDeps: Karmada then does not bring what a StatefulSet names to its cell")
	flags.BoolVar(&o.service, "service", false, "measure Workloads with spec.service, too, and their ratio to Workloads without")
	flags.BoolVar(&o.timeline, "timeline", false,
		"print the requests to all planes for the last of those one after the other, from the audit logs")
	flags.DurationVar(&o.deadline, "deadline", 2*time.Minute, "after how long one that is not Ready is a failure")
}

// subjects returns how many kinds of objects are measured.
func (o *readyOptions) subjects() int {
	if o.service {
		return 3
	}
	return 2
}

// nodes returns the number of nodes that the floor and the Workloads need.
func (o *readyOptions) nodes() int {
	const perNode = 200
	return o.subjects()*(o.warmup+o.n+o.burst)/perNode + 1
}

func runReady(cmd *cobra.Command, o *readyOptions) error {
	latency := newReport(cmd, "Create to Ready, one Instance", "", "p50", "p99", "p50 to floor", "p99 to floor",
		"burst a second", "burst to floor",
		"writes project", "hub", "cell")
	costs := newReport(cmd, "CPU time per object", "", "process", "floor", "Workload", "to floor")
	writes := newReport(cmd, "Writes per Workload of the last that were created one after the other", "plane", "user",
		"verb", "resource", "writes")
	timeline := newReport(cmd, "Requests for the last that was created one after the other", "", "received after", "took",
		"plane", "user", "verb", "resource")
	progress := newProgress(cmd)
	err := withStage(cmd.Context(), cmd.ErrOrStderr(), func(ctx context.Context, s *stage) error {
		subjects, err := s.openReady(ctx, policies.City{Code: city, Cells: []string{cell}, Independent: o.independentFloor})
		if err != nil {
			return err
		}
		var results []*readyResult
		for _, subject := range subjects[:o.subjects()] {
			progress.printf("%s: %d one after the other, %d at once", subject.name, o.n, o.burst)
			result, err := subject.measure(ctx, o)
			if err != nil {
				return fmt.Errorf("%s: %w", subject.name, err)
			}
			results = append(results, result)
			latency.add(result.row(subject.name, results[0])...)
			timeline.rows = append(timeline.rows, result.timeline...)
		}
		costs.rows = costRows("burst", results[0].cpu, results[1].cpu)
		writes.rows = results[1].writes.rows()
		if o.service {
			with, without := results[2].latency, results[1].latency
			latency.note("With spec.service to without it: p50 %s, p99 %s.", ratio(with.p50.Seconds(), without.p50.Seconds()),
				ratio(with.p99.Seconds(), without.p99.Seconds()))
		}
		return nil
	}, federation.Cell{Name: cell, City: city, Controllers: []string{"statefulset-controller"}, Nodes: o.nodes()})
	latency.note("Floor: a StatefulSet with one Pod that bare Karmada propagates to the same cell, from its creation on the " +
		"hub until the hub shows it as Ready. Its policy has propagateDeps, without which Karmada does not bring what it names " +
		"to its cell, unless --independent-floor. Ours: from the creation of a Workload in the project until the project shows " +
		"its Instance as Ready.")
	latency.note("Writes are those of all users to each plane, per object of those one after the other, without Leases and Events.")
	costs.note("Hub: its kube-apiserver, Karmada's scheduler, webhook and controllers, and the add-on.")
	// Measurements from before a failure are useful, too.
	tables := []*report{latency, costs, writes}
	if o.timeline {
		tables = append(tables, timeline)
	}
	for _, table := range tables {
		err = errors.Join(err, table.write(cmd.OutOrStdout()))
	}
	return err
}

func (r *readyResult) row(name string, floor *readyResult) []string {
	row := []string{
		name, millis(r.latency.p50), millis(r.latency.p99),
		ratio(r.latency.p50.Seconds(), floor.latency.p50.Seconds()), ratio(r.latency.p99.Seconds(), floor.latency.p99.Seconds()),
		fmt.Sprintf("%.1f", r.perSecond), ratio(r.perSecond, floor.perSecond),
	}
	for _, plane := range readyPlanes {
		row = append(row, fmt.Sprintf("%.1f", r.writes.of(plane)))
	}
	return row
}
