// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
)

type projectsOptions struct {
	counts   []int
	replicas []string
	maxRSS   string
	lookups  int
	patience time.Duration

	// budget is maxRSS in bytes.
	budget uint64
}

func projectsCommand() *cobra.Command {
	var o projectsOptions
	cmd := &cobra.Command{
		Use:   "projects",
		Short: "Measure the memory and the start of a replica by how many projects Milo has",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return runProjects(cmd, &o)
		},
	}
	cmd.Flags().IntSliceVar(&o.counts, "counts", []int{10, 1000, 10000}, "how many projects Milo has")
	cmd.Flags().StringSliceVar(&o.replicas, "replicas", []string{cachesReplica, oursReplica}, "what is measured")
	cmd.Flags().StringVar(&o.maxRSS, "max-rss", "6Gi", "how much memory a replica may hold before it is stopped")
	cmd.Flags().IntVar(&o.lookups, "lookups", 100, "how many lookups of random projects a replica does")
	cmd.Flags().DurationVar(&o.patience, "patience", 15*time.Minute, "how long a replica may take to become ready before it is stopped")
	return cmd
}

// complete reads and checks the flags, reporting all mistakes at once.
func (o *projectsOptions) complete() error {
	var mistakes []error
	for _, count := range o.counts {
		if count < 1 {
			mistakes = append(mistakes, fmt.Errorf("--counts: %d is less than 1", count))
		}
	}
	for _, replica := range o.replicas {
		if replica != oursReplica && replica != cachesReplica {
			mistakes = append(mistakes, fmt.Errorf("--replicas: %q is neither %s nor %s", replica, oursReplica, cachesReplica))
		}
	}
	if o.lookups < 1 {
		mistakes = append(mistakes, fmt.Errorf("--lookups: %d is less than 1", o.lookups))
	}
	quantity, err := resource.ParseQuantity(o.maxRSS)
	if err != nil || quantity.Sign() <= 0 {
		mistakes = append(mistakes, fmt.Errorf("--max-rss: %q is no size such as 6Gi", o.maxRSS))
	} else {
		o.budget = uint64(quantity.Value()) //nolint:gosec // It is above 0.
	}
	return errors.Join(mistakes...)
}

func runProjects(cmd *cobra.Command, o *projectsOptions) (err error) {
	report := newReport(cmd, "A replica by how many projects Milo has",
		"replica", "projects", "ready after", "RSS when ready", "peak RSS", "connections to Milo", "watches", "requests until ready", "lookup p50", "lookup p99")
	folder, err := os.MkdirTemp("", "bench-projects-")
	if err != nil {
		return fmt.Errorf("no folder for Milo's CA, set TMPDIR: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	progress := newProgress(cmd)
	for _, replica := range o.replicas {
		for _, count := range o.counts {
			progress.printf("%s with %d projects", replica, count)
			t := &trial{
				options: o, replica: replica, count: count, progress: progress, errOut: cmd.ErrOrStderr(),
				caFile: filepath.Join(folder, "ca.crt"),
			}
			if err := t.run(cmd.Context()); err != nil {
				return fmt.Errorf("%s with %d projects: %w", replica, count, err)
			}
			report.add(t.row()...)
		}
	}
	report.note("%s: milo.Lookup as admission uses it, ready when a probe past its caches was answered. Controllers are not in it.", oursReplica)
	report.note("%s: a replica as it was: controller-runtime's cluster.New for every project, with synced informers for Workload, WorkloadDeployment, Instance and LocationBinding, %d projects at once, ready when all have synced.", cachesReplica, atOnce)
	report.note("Milo is a process of its own that speaks HTTP/2 over TLS with no limit to the streams of a connection, answers at once and has one LocationBinding and nothing else in each project: real projects hold more, and a real Milo takes longer.")
	report.note("Both are processes of the same binary. A lookup is the project and its cities, %d of random projects one after the other: %s asks Milo for what it was not asked in the last seconds, %s reads memory. A replica that exceeds --max-rss is stopped; how many projects it had engaged is said to the last %d.", o.lookups, oursReplica, cachesReplica, sayEvery)
	return report.write(cmd.OutOrStdout())
}

// row is the row of a trial in the report.
func (t *trial) row() []string {
	row := []string{t.replica, strconv.Itoa(t.count)}
	load := []string{strconv.FormatInt(t.load.Connections, 10), strconv.FormatInt(t.load.Watches, 10), strconv.FormatInt(t.load.Requests, 10)}
	switch {
	case errors.Is(t.stopped, errBudget):
		row = append(row, fmt.Sprintf("stopped after %s, %d projects engaged", t.ready.Round(100*time.Millisecond), t.engaged), "> "+t.options.maxRSS, mebibytes(t.atReady.peak))
	case t.stopped != nil:
		row = append(row, fmt.Sprintf("not within %s, %d projects engaged", t.options.patience, t.engaged), mebibytes(t.atReady.rss), mebibytes(t.atReady.peak))
	default:
		row = append(row, fmt.Sprintf("%.2f s", t.ready.Seconds()), mebibytes(t.atReady.rss), mebibytes(t.atEnd.peak))
	}
	row = append(row, load...)
	if t.stopped != nil {
		return append(row, "-", "-")
	}
	return append(row, micros(t.lookups.P50), micros(t.lookups.P99))
}

// micros is a duration in microseconds.
func micros(d time.Duration) string {
	return fmt.Sprintf("%.0f µs", float64(d)/float64(time.Microsecond))
}

var (
	errBudget   = errors.New("the replica holds more memory than --max-rss allows")
	errPatience = errors.New("the replica took longer than --patience allows")
)

// limit cancels a context, with the reason as its cause, when a process uses too much memory or time.
func (o *projectsOptions) limit(ctx context.Context, pid int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		late := time.NewTimer(o.patience)
		defer late.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-late.C:
				cancel(errPatience)
			case <-ticker.C:
				// The end of a process is reported by its output.
				if m, err := memoryOf(pid); err == nil && m.rss > o.budget {
					cancel(errBudget)
				}
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
