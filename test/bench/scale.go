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

	"github.com/karmada-compute/karmada-compute/test/federation"
)

type scaleOptions struct {
	sizes                       []int
	instances, cellCount        int
	burst, changes              int
	stormed, storm              int
	stormFor, patience, pausing time.Duration
}

func scaleCommand() *cobra.Command {
	var o scaleOptions
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Measure time, CPU, bytes, memory, lag and takeover with more and more deployments",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return runScale(cmd, &o)
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&o.sizes, "sizes", []int{60, 240, 960}, "numbers of deployments, ascending: Workloads with one city")
	flags.IntVar(&o.instances, "instances", 10, "how many Instances a deployment has")
	flags.IntVar(&o.cellCount, "cells", 2, "how many cells, each in its own city with its own kube-apiserver")
	flags.IntVar(&o.burst, "burst", 30, "how many Workloads are created at once")
	flags.IntVar(&o.changes, "changes", 100, "how many changes are measured one after the other")
	flags.IntVar(&o.storm, "storm", 100, "changes a second in the storm")
	flags.DurationVar(&o.stormFor, "storm-for", 10*time.Second, "how long the storm lasts")
	flags.IntVar(&o.stormed, "stormed", 60, "how many deployments the changes are spread over, the same at each size")
	flags.DurationVar(&o.patience, "deadline", 30*time.Minute, "after how long something that has not happened is a failure")
	flags.DurationVar(&o.pausing, "rest-for", 10*time.Minute, "how long to wait at most until the hub is at rest before a measurement")
	return cmd
}

func (o *scaleOptions) validate() error {
	if len(o.sizes) == 0 || !slices.IsSorted(o.sizes) || min(o.sizes[0], o.instances, o.burst, o.changes, o.storm, o.stormed) < 1 {
		return errors.New("--sizes: use ascending numbers above 0; --instances, --burst, --changes, --storm, --stormed: use values above 0")
	}
	if o.cellCount < 1 || o.cellCount > len(scaleCities) || min(o.stormFor, o.patience, o.pausing) <= 0 {
		return fmt.Errorf("--cells: use 1 to %d; --storm-for, --deadline, --rest-for: use values above 0", len(scaleCities))
	}
	return nil
}

// scaleCities are the cities of the benchmark. A cell with all of its processes takes 0.8 to 0.9 GiB.
var scaleCities = []string{
	"AMS", "DFW", "LHR", "ORD", "SIN", "BOM", "CDG", "FRA", "GRU", "HEL", "JFK", "MAD", "NRT", "OSL", "PRG", "SEA", "SYD", "VIE", "WAW", "YYZ",
}

// members returns the cells, with nodes for the Pods of all deployments.
func (o *scaleOptions) members() []federation.Cell {
	const perNode = 220
	nodes := o.sizes[len(o.sizes)-1]*o.instances/o.cellCount/perNode + 2
	var cells []federation.Cell
	for _, code := range scaleCities[:o.cellCount] {
		cells = append(cells, federation.Cell{Name: strings.ToLower(code), City: code, Nodes: nodes})
	}
	return cells
}

func runScale(cmd *cobra.Command, o *scaleOptions) error {
	progress := newProgress(cmd)
	reports := newScaleReports(cmd)
	s := &stage{out: cmd.ErrOrStderr(), cells: o.members(), addOnOptions: federation.AddOnOptions{Replicas: 2}}
	err := s.with(cmd.Context(), func(ctx context.Context, s *stage) error {
		b, err := s.openScale(ctx, o)
		if err != nil {
			return err
		}
		b.progress = progress
		for _, size := range o.sizes {
			result := &scaleResult{deployments: size, instances: size * o.instances, load: load()}
			err := b.measure(ctx, result)
			reports.results = append(reports.results, result)
			// An interrupted run has the figures of the sizes before.
			err = errors.Join(err, reports.write(cmd.ErrOrStderr()))
			if err != nil {
				return fmt.Errorf("%d deployments: %w", size, err)
			}
		}
		return nil
	})
	return errors.Join(err, reports.write(cmd.OutOrStdout()))
}

// measure adds deployments until there are as many as the result is for, and measures. Results from before an error are
// kept.
func (b *scaleBench) measure(ctx context.Context, r *scaleResult) error {
	steps := []struct {
		name string
		do   func(context.Context, *scaleResult) error
	}{
		{"deployments are created", b.fill},
		{"rest", b.settle},
		{"changes one after the other", b.calm},
		{"storm", b.blow},
		{"takeover", b.takeOver},
		{"changes are undone", b.heal},
	}
	for _, step := range steps {
		b.progress.printf("%d deployments, load %s: %s", r.deployments, load(), step.name)
		if err := step.do(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		b.progress.printf("%s", r)
	}
	return nil
}
