// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// followTimeout is how long the Workload may take to reach a state.
const followTimeout = 3 * time.Minute

var errTooLate = errors.New("timed out")

// followUntilReady follows the Workload until the project shows as many Instances as it asks for, all Ready.
func (d *demo) followUntilReady(ctx context.Context, instances int) error {
	start := time.Now()
	if err := d.follow(ctx, fmt.Sprintf("all %d Instances are Ready", instances), func(s *view.Snapshot) bool {
		return s.Workload != nil && wanted(s.Workload) == instances && settled(s)
	}); err != nil {
		return err
	}
	d.screen.Line("  all %d Instances are Ready in the project, %.1f s after the request", instances, time.Since(start).Seconds())
	return nil
}

// follow shows the project's tree as it changes, until done returns true.
func (d *demo) follow(ctx context.Context, goal string, done func(*view.Snapshot) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, followTimeout, errTooLate)
	defer cancel()
	w, err := d.watch(ctx)
	if err != nil {
		return err
	}
	last, err := w.Follow(ctx, d.screen, false, done)
	if errors.Is(err, errTooLate) {
		return notReached(goal, last)
	}
	return err
}

// watch watches the Workload in the project as the consumer.
func (d *demo) watch(ctx context.Context) (*live.Watch, error) {
	config, err := d.federation.Config(project, consumer)
	if err != nil {
		return nil, err
	}
	c, workload, err := d.wanted()
	if err != nil {
		return nil, err
	}
	return live.Start(ctx, live.Options{
		Project: &live.Plane{Config: config, Client: c},
		Key:     types.NamespacedName{Namespace: workload.Namespace, Name: workload.Name}, Now: time.Now,
	}, nil)
}

// wanted returns the number of Instances that a Workload requests.
func wanted(workload *v1alpha.Workload) int {
	count := 0
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		count += len(placement.CityCodes) * int(placement.ScaleSettings.MinReplicas)
	}
	return count
}

// settled reports whether the project has exactly the Instances that the Workload requests, all Ready, and the
// Workload's status counts them.
func settled(s *view.Snapshot) bool {
	if s.Workload == nil || s.Workload.Status.ObservedGeneration != s.Workload.Generation {
		return false
	}
	want := wanted(s.Workload)
	return len(s.Instances) == want && s.Ready() == want && int(s.Workload.Status.ReadyReplicas) == want
}

// notReached returns an error with the reason why a Workload did not reach its goal in time.
func notReached(goal string, last *view.Snapshot) error {
	var lines []string
	for _, verdict := range view.Verdicts(last.Ways()) {
		lines = append(lines, verdict.Lines(time.Now(), 0)...)
	}
	if len(lines) == 0 {
		lines = last.Tree().Lines(view.Layout{})
	}
	return fmt.Errorf("timed out after %s, waiting until %s; %d of %d Instances in the project are Ready, last state:\n%s",
		followTimeout, goal, last.Ready(), len(last.Instances), terminal.Indent(lines))
}
