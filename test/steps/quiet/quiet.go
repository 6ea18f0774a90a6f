// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quiet has the sentences about the add-on's writes, and periods without writes.
package quiet

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about writes.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// state is the state that the sentences of a scenario share.
type state struct {
	// watched is a period in which the add-on should not write.
	watched period
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }

// leases are the replicas' heartbeats, and do not count as writes.
const leases = "coordination.k8s.io/leases"

// period is an interval of time.
type period struct{ from, until time.Time }

// Register adds the sentences about the passing of time and the writes in it.
func Register(sc world.Sentences) {
	sc.Step(`^(\d+) seconds pass$`, func(ctx context.Context, seconds int) error {
		s := from(ctx)
		s.state().watched.from = time.Now()
		defer func() { s.state().watched.until = time.Now() }()
		return world.Pause(ctx, time.Duration(seconds)*time.Second)
	})
	sc.Step(`^nothing in the federation has been written by the add-on for (\d+) seconds$`, func(ctx context.Context, seconds int) error {
		return from(ctx).becomesQuiet(ctx, time.Duration(seconds)*time.Second)
	})
	sc.Step(`^the add-on has written (nothing )?to the hub, the cells and the project$`, func(ctx context.Context, nothing string) error {
		s := from(ctx)
		if nothing != "" {
			return s.wroteNothing()
		}
		return s.wroteEverywhere()
	})
	sc.Step(`^the add-on watches (nothing|[a-z]+) in the project$`, func(ctx context.Context, resource string) error {
		return from(ctx).isWatched(ctx, resource)
	})
	sc.Step(`^the replicas have renewed Leases on the hub, and less than once a second$`, func(ctx context.Context) error {
		return from(ctx).renewedLeases()
	})
}

func (s Steps) writtenPlanes() []string {
	planes := []string{"hub", "project/" + s.Project}
	for _, cell := range s.Federation.Cells() {
		planes = append(planes, "cell/"+cell.Name)
	}
	return planes
}

// writes returns the add-on's writes in a period, by plane, from the audit logs of the kube-apiservers.
func (s Steps) writes(in period) (map[string][]federation.Write, error) {
	result := map[string][]federation.Write{}
	for _, plane := range s.writtenPlanes() {
		all, err := s.Federation.Writes(plane, in.from)
		if err != nil {
			return nil, err
		}
		for _, write := range all {
			if slices.Contains(world.AddOnUsers, write.User) && write.Resource != leases && write.Time.Before(in.until) {
				result[plane] = append(result[plane], write)
			}
		}
	}
	return result, nil
}

// isWatched expects a watch of a resource in the scenario's project, or that there has been no watch of any resource.
func (s Steps) isWatched(ctx context.Context, resource string) error {
	watched := func() (map[string]bool, error) {
		requests, err := s.Federation.Requests("project/"+s.Project, time.Time{}, world.AddOnUsers...)
		found := map[string]bool{}
		for i := range requests {
			if requests[i].Verb == "watch" {
				found[path.Base(requests[i].Resource)] = true
			}
		}
		if err == nil && len(requests) == 0 {
			err = errors.New("the add-on has sent no request to the project: nothing is proved by that")
		}
		return found, err
	}
	if resource == "nothing" {
		found, err := watched()
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("the add-on has watched %v in the project", found)
		}
		return err
	}
	return world.Eventually(ctx, func(context.Context) error {
		found, err := watched()
		if err == nil && !found[resource] {
			err = fmt.Errorf("the add-on has watched %v in the project", found)
		}
		return err
	})
}

// renewedLeases counts the writes of Leases in the watched period.
func (s Steps) renewedLeases() error {
	all, err := s.Federation.Writes("hub", s.state().watched.from)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(write federation.Write) bool {
		return !slices.Contains(world.AddOnUsers, write.User) || write.Resource != leases || !write.Time.Before(s.state().watched.until)
	})
	seconds := s.state().watched.until.Sub(s.state().watched.from).Seconds()
	fmt.Fprintf(s.Out, "%d Leases were written on the hub in %.0f s\n", len(all), seconds)
	if len(all) == 0 || float64(len(all)) >= seconds {
		return fmt.Errorf("%d Leases were written in %.0f s", len(all), seconds)
	}
	return nil
}

// becomesQuiet waits until the add-on has not written for a period that began after the step did. It first waits until
// the objects of earlier scenarios are deleted: the add-on may learn of a deleted namespace or project some seconds
// later.
func (s Steps) becomesQuiet(ctx context.Context, length time.Duration) error {
	s.Tidying.Wait()
	started := time.Now()
	return world.Eventually(ctx, func(context.Context) error {
		now := time.Now()
		writes, err := s.writes(period{now.Add(-length), now})
		if err != nil {
			return err
		}
		if len(writes) > 0 || now.Sub(started) < length {
			return fmt.Errorf("the add-on has not been quiet for %s: %v", length, writes)
		}
		return nil
	})
}

func (s Steps) wroteNothing() error {
	writes, err := s.writes(s.state().watched)
	if err != nil {
		return err
	}
	var found []error
	for plane, list := range writes {
		for _, write := range list {
			found = append(found, fmt.Errorf("%s: %s %s %s %s/%s", plane, write.User, write.Verb, write.Resource, write.Namespace, write.Name))
		}
	}
	return errors.Join(found...)
}

// wroteEverywhere expects writes since the watched period, in every plane with objects of the scenario's Workload.
func (s Steps) wroteEverywhere() error {
	writes, err := s.writes(period{s.state().watched.until, time.Now()})
	if err != nil {
		return err
	}
	for _, plane := range s.writtenPlanes() {
		// Cells that other scenarios added do not have the scenario's Workload.
		if _, extra := s.Extra[strings.TrimPrefix(plane, "cell/")]; !extra && len(writes[plane]) == 0 {
			return fmt.Errorf("no write to %s was counted: the count of zero before proves nothing", plane)
		}
	}
	return nil
}
