// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/cli/terminal"
)

const (
	// leftoverTimeout is how long the hub and the cells may take to remove the objects of a deleted Workload.
	leftoverTimeout  = 2 * time.Minute
	leftoverInterval = 250 * time.Millisecond
)

// leftover is the number of objects of a kind that are left in a plane.
type leftover struct {
	plane, kind string
	count       int
}

// findLeftovers counts the leftover objects in every plane until no object is left.
func (d *demo) findLeftovers(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, leftoverTimeout, errTooLate)
	defer cancel()
	var found []leftover
	err := wait.PollUntilContextCancel(ctx, leftoverInterval, true, func(ctx context.Context) (bool, error) {
		current, err := d.countLeftovers(ctx)
		if err != nil {
			return false, err
		}
		found = current
		d.screen.Show([]string{summary(found)})
		return total(found) == 0, nil
	})
	d.screen.End()
	for _, line := range leftoverTable(d.running, found) {
		d.screen.Line("  %s", line)
	}
	// The timeout may also have ended a request, with another error.
	if err != nil && errors.Is(context.Cause(ctx), errTooLate) {
		return fmt.Errorf("timed out after %s, waiting until nothing of the Workload is left; %s", leftoverTimeout, summary(found))
	}
	if err != nil {
		return fmt.Errorf("count the objects that are left: %w", err)
	}
	return nil
}

// countLeftovers counts the objects of the Workload in every plane.
func (d *demo) countLeftovers(ctx context.Context) ([]leftover, error) {
	views, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	v := views[0]
	works := 0
	for _, carried := range v.Works {
		works += len(carried)
	}
	found := []leftover{
		{project, "workloads", len(v.Workloads)},
		{project, "workloaddeployments", len(v.Deployments)},
		{project, "instances", len(v.Instances)},
		{"hub", "workloaddeployments", len(v.Copies)},
		{"hub", "namespaces", present(v.Namespace)},
		{"hub", "propagationpolicies", len(v.Policies)},
		{"hub", "resourcebindings", len(v.Bindings)},
		{"hub", "works", works},
	}
	for _, name := range slices.Sorted(maps.Keys(v.Cells)) {
		plane, cell := "cell/"+name, v.Cells[name]
		found = append(found, leftover{plane, "workloaddeployments", len(cell.Deployments)}, leftover{plane, "instances", len(cell.Instances)},
			leftover{plane, "namespaces", present(cell.Namespace)}, leftover{plane, "pods", len(cell.Pods)})
	}
	return found, nil
}

func present(namespace *corev1.Namespace) int {
	if namespace == nil {
		return 0
	}
	return 1
}

func total(found []leftover) int {
	sum := 0
	for _, l := range found {
		sum += l.count
	}
	return sum
}

// summary lists the leftover objects in one line.
func summary(found []leftover) string {
	var parts []string
	for _, l := range found {
		if l.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s in %s", l.count, l.kind, l.plane))
		}
	}
	if len(parts) == 0 {
		return "nothing is left"
	}
	return "left: " + strings.Join(parts, ", ")
}

// leftoverTable shows every count next to the count while the Workload ran. A plane is named in its first row only.
// Both lists have the same kinds in the same order.
func leftoverTable(running, found []leftover) []string {
	rows := [][]string{{"PLANE", "KIND", "RUNNING", "LEFT"}}
	last := ""
	for i, l := range found {
		name := l.plane
		if name == last {
			name = ""
		}
		last = l.plane
		rows = append(rows, []string{name, l.kind, strconv.Itoa(running[i].count), strconv.Itoa(l.count)})
	}
	return terminal.Align(rows)
}
