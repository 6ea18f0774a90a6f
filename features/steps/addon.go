// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"github.com/karmada-compute/karmada-compute/federation"
)

// leases are the heartbeat of replicas and no work of theirs.
const leases = "coordination.k8s.io/leases"

// quietPeriod is a time in which the add-on should write nothing.
type quietPeriod struct{ from, until time.Time }

func addAddOnSteps(sc *godog.ScenarioContext) {
	sc.Step(`^replica (\d+) is killed$`, func(ctx context.Context, replica int) error {
		s := from(ctx)
		s.killed = replica
		return s.addOn.Kill(replica)
	})
	sc.Step(`^replica (\d+) is started again$`, func(ctx context.Context, replica int) error {
		s := from(ctx)
		if err := s.addOn.Start(ctx, replica); err != nil {
			return err
		}
		s.killed = -1
		return nil
	})
	sc.Step(`^in project "([^"]*)" Workload "([^"]*)" still runs the same Instances$`, func(ctx context.Context, project, name string) error {
		s := from(ctx).in(project)
		if err := s.isAvailable(ctx, name, 1); err != nil {
			return err
		}
		return s.wasReplaced(ctx, "dfw", name+"-main-dfw-0", false)
	})
	sc.Step(`^nothing in the federation has been written by the add-on for (\d+) seconds$`, func(ctx context.Context, seconds int) error {
		return from(ctx).becomesQuiet(ctx, time.Duration(seconds)*time.Second)
	})
	sc.Step(`^(\d+) seconds pass$`, func(ctx context.Context, seconds int) error {
		s := from(ctx)
		s.quiet.from = time.Now()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(seconds) * time.Second):
		}
		s.quiet.until = time.Now()
		return nil
	})
	sc.Step(`^the add-on has written nothing to the hub, the cells and the project$`, func(ctx context.Context) error {
		s := from(ctx)
		writes, err := s.writes(s.quiet.from, s.quiet.until)
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
	})
	sc.Step(`^the add-on has written to the hub, the cells and the project$`, func(ctx context.Context) error {
		s := from(ctx)
		writes, err := s.writes(s.quiet.until, time.Now())
		if err != nil {
			return err
		}
		for _, plane := range s.planes() {
			// The Workload of the scenario is in no cell that others added.
			if _, extra := s.extra[strings.TrimPrefix(plane, "cell/")]; extra {
				continue
			}
			if len(writes[plane]) == 0 {
				return fmt.Errorf("no write to %s was counted: the count of zero before proves nothing", plane)
			}
		}
		return nil
	})
}

func (s *scenario) planes() []string {
	planes := []string{"hub", "project/" + s.project}
	for _, cell := range s.federation.Cells() {
		planes = append(planes, "cell/"+cell.Name)
	}
	return planes
}

// writes are the add-on's writes in a time, by plane, from the audit logs of the kube-apiservers.
func (s *scenario) writes(after, before time.Time) (map[string][]federation.Write, error) {
	result := map[string][]federation.Write{}
	for _, plane := range s.planes() {
		all, err := s.federation.Writes(plane, after)
		if err != nil {
			return nil, err
		}
		for _, write := range all {
			if strings.HasPrefix(write.User, "karmada-compute") && write.Resource != leases && write.Time.Before(before) {
				result[plane] = append(result[plane], write)
			}
		}
	}
	return result, nil
}

// becomesQuiet waits until the add-on has written nothing for a time that began after the step did.
func (s *scenario) becomesQuiet(ctx context.Context, period time.Duration) error {
	started := time.Now()
	return eventually(ctx, func(context.Context) error {
		now := time.Now()
		writes, err := s.writes(now.Add(-period), now)
		if err != nil {
			return err
		}
		if len(writes) > 0 || now.Sub(started) < period {
			return fmt.Errorf("the add-on has not been quiet for %s: %v", period, writes)
		}
		return nil
	})
}
