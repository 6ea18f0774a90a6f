// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/federation"
	"github.com/karmada-compute/karmada-compute/policies"
)

type parallelOptions struct {
	instances []int
	deadline  time.Duration
}

func parallelCommand() *cobra.Command {
	var o parallelOptions
	cmd := &cobra.Command{
		Use:   "parallel",
		Short: "Measure the time until all Instances of one Workload, which start at once, are Ready in the project",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(o.instances) == 0 || slices.Min(o.instances) < 1 || o.deadline <= 0 {
				return errors.New("--instances, --deadline: use values above 0")
			}
			return runParallel(cmd, &o)
		},
	}
	cmd.Flags().IntSliceVar(&o.instances, "instances", []int{300}, "how many Instances a Workload has, one Workload after the other")
	cmd.Flags().DurationVar(&o.deadline, "deadline", 20*time.Minute, "after how long it is a failure that not all are Ready")
	return cmd
}

func runParallel(cmd *cobra.Command, o *parallelOptions) error {
	times := newReport(cmd, "Until all Instances are Ready", "Instances", "floor", "bare writes", "to floor", "Workload", "to floor", "writes for each: project", "hub", "cell")
	costs := newReport(cmd, "CPU time per Instance", "Instances", "process", "floor", "bare writes", "to floor", "Workload", "to floor")
	writes := newReport(cmd, "Writes per Instance", "plane", "user", "verb", "resource", "writes")
	progress := newProgress(cmd)
	pods := 0
	for _, count := range o.instances {
		pods += 3 * count
	}
	const perNode = 200
	err := withStage(cmd.Context(), cmd.ErrOrStderr(), func(ctx context.Context, s *stage) error {
		subjects, err := s.openReady(ctx, policies.City{Code: city, Cells: []string{cell}})
		if err != nil {
			return err
		}
		for _, count := range o.instances {
			all, err := o.round(ctx, progress, subjects, count)
			if err != nil {
				return err
			}
			times.add(append([]string{strconv.Itoa(count)}, all.row()...)...)
			costs.rows = append(costs.rows, all.costs(strconv.Itoa(count))...)
			writes.rows = all.ours.writes.rows()
		}
		return nil
	}, federation.Cell{Name: cell, City: city, Controllers: []string{"statefulset-controller"}, Nodes: pods/perNode + 1})
	times.note("Floor: a StatefulSet with podManagementPolicy Parallel and as many Pods, that bare Karmada propagates to the same cell: from its creation until the hub shows that all are Ready. Ours: from the creation of a Workload until the project has as many Instances that are Ready.")
	times.note("Bare writes: another such StatefulSet and, at the same time, as many Instances in the cell and in the project, each created and with one status, by plain clients and of a kind that nobody watches. No implementation that makes Instances visible writes less.")
	costs.note("Hub: its kube-apiserver, Karmada's scheduler, webhook and controllers, and the add-on. The clients of the bare writes are not counted.")
	// What was measured before a failure is worth a look, too.
	for _, table := range []*report{times, costs, writes} {
		err = errors.Join(err, table.write(cmd.OutOrStdout()))
	}
	return err
}

// round measures the floor, a Workload and the bare writes with so many Pods.
func (o *parallelOptions) round(ctx context.Context, progress *progress, subjects []*readySubject, count int) (*parallelResults, error) {
	floor, ours := subjects[0].parallel(count), subjects[1].parallel(count)
	all := &parallelResults{}
	for _, step := range []struct {
		name    string
		result  **parallelResult
		measure func(context.Context, *parallelOptions, int) (*parallelResult, error)
	}{{floor.name, &all.floor, floor.measureParallel}, {ours.name, &all.ours, ours.measureParallel}, {"bare writes", &all.bare, floor.measureBare}} {
		progress.printf("%s: %d at once", step.name, count)
		var err error
		if *step.result, err = step.measure(ctx, o, count); err != nil {
			return nil, fmt.Errorf("%s with %d: %w", step.name, count, err)
		}
	}
	return all, nil
}

// parallelResults are those of as many Pods and Instances.
type parallelResults struct{ floor, bare, ours *parallelResult }

func (r *parallelResults) row() []string {
	row := []string{r.floor.took.Round(time.Millisecond).String()}
	for _, result := range []*parallelResult{r.bare, r.ours} {
		row = append(row, result.took.Round(time.Millisecond).String(), ratio(result.took.Seconds(), r.floor.took.Seconds()))
	}
	for _, plane := range readyPlanes {
		row = append(row, fmt.Sprintf("%.1f", r.ours.writes.of(plane)))
	}
	return row
}

// costs are the rows of costRows, with the columns of the bare writes.
func (r *parallelResults) costs(around string) [][]string {
	rows := costRows(around, r.floor.cpu, r.ours.cpu)
	for i, row := range rows {
		bare, floor := r.bare.cpu.named(row[1]), r.floor.cpu.named(row[1])
		rows[i] = slices.Insert(row, 3, millis(bare), ratio(bare.Seconds(), floor.Seconds()))
	}
	return rows
}

// parallelResult is what was measured of one object.
type parallelResult struct {
	took time.Duration
	// cpu is that of each process, and writes those to all planes, for each Instance.
	cpu    cpuTimes
	writes writeCounts
}

// parallel is the subject with objects of so many Pods that start at once.
func (r *readySubject) parallel(count int) *readySubject {
	many := *r
	many.object = func(name string) (*unstructured.Unstructured, error) {
		made, err := r.object(name)
		if err != nil {
			return nil, err
		}
		return made, startAtOnce(made, int64(count))
	}
	ready := map[string]map[string]bool{}
	many.ready = func(shown *unstructured.Unstructured) string {
		name := r.ready(shown)
		if shown.GetKind() != v1alpha.KindInstance {
			if replicas, _, _ := unstructured.NestedInt64(shown.Object, "status", "readyReplicas"); replicas < int64(count) {
				return ""
			}
			return name
		}
		workload := shown.GetLabels()[v1alpha.LabelWorkloadName]
		if ready[workload] == nil {
			ready[workload] = map[string]bool{}
		}
		if name == "" {
			delete(ready[workload], shown.GetName())
		} else {
			ready[workload][shown.GetName()] = true
		}
		if len(ready[workload]) < count {
			return ""
		}
		return workload
	}
	return &many
}

// startAtOnce gives a StatefulSet or a Workload so many Pods, none of which waits for another.
func startAtOnce(o *unstructured.Unstructured, count int64) error {
	if o.GetKind() == "StatefulSet" {
		return errors.Join(unstructured.SetNestedField(o.Object, count, "spec", "replicas"),
			unstructured.SetNestedField(o.Object, "Parallel", "spec", "podManagementPolicy"))
	}
	placements, _, err := unstructured.NestedSlice(o.Object, "spec", "placements")
	if err != nil {
		return err
	}
	for _, placement := range placements {
		if fields, ok := placement.(map[string]any); ok {
			fields["scaleSettings"] = map[string]any{"minReplicas": count, "instanceManagementPolicy": string(v1alpha.Parallel)}
		}
	}
	return unstructured.SetNestedSlice(o.Object, placements, "spec", "placements")
}

// parallelName is the name of an object with so many Pods.
func parallelName(count int) string { return fmt.Sprintf("parallel-%d", count) }

func (r *readySubject) measureParallel(ctx context.Context, o *parallelOptions, count int) (*parallelResult, error) {
	return r.measured(ctx, count, func(ctx context.Context, seen *readyNames) (time.Duration, error) {
		return r.one(ctx, seen, parallelName(count), o.deadline)
	})
}

// measured measures what is done, from a hub at rest until it is at rest again.
func (r *readySubject) measured(ctx context.Context, count int, do func(context.Context, *readyNames) (time.Duration, error)) (*parallelResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	seen := r.follow(ctx)
	if err := r.stage.rest(ctx); err != nil {
		return nil, err
	}
	before, begin := r.stage.cpu(), time.Now()
	result := &parallelResult{}
	var err error
	if result.took, err = do(ctx, seen); err != nil {
		return nil, err
	}
	if err := r.stage.rest(ctx); err != nil {
		return nil, err
	}
	result.cpu = r.stage.cpu().since(before).each(count)
	result.writes, err = r.stage.writesSince(begin, count)
	return result, err
}
