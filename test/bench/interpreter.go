// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mostInstances is how many a WorkloadDeployment may have.
const mostInstances = 5000

type interpreterOptions struct {
	modes                      []string
	instances, updates, atOnce []int
	duration, deadline         time.Duration
	warmup, giveUp             int
}

func interpreterCommand() *cobra.Command {
	var o interpreterOptions
	cmd := &cobra.Command{
		Use:   "interpreter",
		Short: "Measure how a deployment's status gets from a cell to the hub, by how Karmada interprets it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return runInterpreter(cmd, &o)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func (o *interpreterOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&o.modes, "modes", []string{webhookMode, customizationMode}, "values of --interpreter-mode that are measured")
	flags.IntSliceVar(&o.instances, "instances", []int{1, 100, 1000, 5000}, "how many Instances a deployment has")
	flags.IntSliceVar(&o.updates, "updates", []int{60, 60, 20, 20}, "for each of --instances, how many updates are measured one after the other")
	flags.IntSliceVar(&o.atOnce, "at-once", []int{20, 20, 4, 1}, "for each of --instances, how many deployments are updated at once")
	flags.DurationVar(&o.duration, "duration", 15*time.Second, "for how long they are updated")
	flags.DurationVar(&o.deadline, "deadline", time.Minute, "after how long an update has failed")
	flags.IntVar(&o.warmup, "warmup", 3, "how many updates of each deployment come before the measurement")
	flags.IntVar(&o.giveUp, "give-up", 3, "after how many consecutive failed updates the measurement of a deployment stops")
}

// check checks the flags, reporting all mistakes at once.
func (o *interpreterOptions) check() error {
	var mistakes []error
	for _, mode := range o.modes {
		if mode != webhookMode && mode != customizationMode {
			mistakes = append(mistakes, fmt.Errorf("--modes: %q is neither %s nor %s", mode, webhookMode, customizationMode))
		}
	}
	if len(o.updates) != len(o.instances) || len(o.atOnce) != len(o.instances) {
		mistakes = append(mistakes, errors.New("--instances, --updates, --at-once: must have the same number of values"))
	}
	if slices.ContainsFunc(o.instances, func(n int) bool { return n < 1 || n > mostInstances }) {
		mistakes = append(mistakes, fmt.Errorf("--instances: use numbers from 1 to %d", mostInstances))
	}
	if slices.Min(slices.Concat(o.updates, o.atOnce, []int{o.warmup, o.giveUp})) < 1 || o.duration <= 0 || o.deadline <= 0 {
		mistakes = append(mistakes, errors.New("--instances, --updates, --at-once, --warmup, --give-up, --duration, --deadline: use values above 0"))
	}
	return errors.Join(mistakes...)
}

func runInterpreter(cmd *cobra.Command, o *interpreterOptions) error {
	reports := newCarriedReports(cmd)
	run := &interpreterRun{options: o, progress: newProgress(cmd)}
	err := withStage(cmd.Context(), cmd.ErrOrStderr(), run.measure)
	if len(run.done) == 0 {
		return err
	}
	// A run takes long, so its results are written even if it was interrupted or failed.
	return errors.Join(err, reports.write(cmd.OutOrStdout(), o, run.done))
}

// interpreterRun is one run, on one federation.
type interpreterRun struct {
	options  *interpreterOptions
	progress *progress
	planes   *carriedPlanes
	numbers  atomic.Int64
	done     []*carriage
}

// measure measures the floors, and then each mode with every size.
func (r *interpreterRun) measure(ctx context.Context, s *stage) error {
	var err error
	if r.planes, err = s.openPlanes(ctx); err != nil {
		return fmt.Errorf("prepare hub and cell: %w", err)
	}
	for _, floor := range r.floors() {
		if err := r.one(ctx, floor); err != nil {
			return err
		}
	}
	for _, mode := range r.options.modes {
		r.progress.printf("restarting the add-on with --interpreter-mode=%s", mode)
		if err := s.interpret(ctx, mode); err != nil {
			return err
		}
		for i := range r.options.instances {
			if err := r.one(ctx, r.carriage(mode, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *interpreterRun) one(ctx context.Context, c *carriage) error {
	if err := c.run(ctx); err != nil {
		return fmt.Errorf("%s: %w", c.title(), err)
	}
	r.done = append(r.done, c)
	return nil
}

// floors has a floor for each number of concurrent updates, because the rate depends on it.
func (r *interpreterRun) floors() []*carriage {
	var floors []*carriage
	for _, atOnce := range slices.Compact(slices.Sorted(slices.Values(r.options.atOnce))) {
		floors = append(floors, &carriage{
			name: floorName, atOnce: atOnce, updates: slices.Max(r.options.updates), resource: statefulSetResource,
			subject: func(name string) (subject, error) { return bareSubject{name: name}, nil },
			options: r.options, planes: r.planes, numbers: &r.numbers, progress: r.progress,
		})
	}
	return floors
}

// carriage is the measurement of a mode with the i-th size.
func (r *interpreterRun) carriage(mode string, i int) *carriage {
	instances := r.options.instances[i]
	return &carriage{
		name: mode, instances: instances, atOnce: r.options.atOnce[i], updates: r.options.updates[i], resource: deploymentResource,
		subject: func(name string) (subject, error) { return newDeploymentSubject(name, instances, time.Now()) },
		options: r.options, planes: r.planes, numbers: &r.numbers, progress: r.progress,
	}
}
