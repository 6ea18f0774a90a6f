// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/test/soak"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addFaultSteps adds the sentences about killed processes, and about the recovery time.
func addFaultSteps(sc world.Sentences) {
	sc.Step(`^process(?:es)? "([^"]*)" (?:is|are) (killed|started again)$`, func(ctx context.Context, names, what string) error {
		s := from(ctx)
		if what == "killed" {
			s.state().killed = time.Now()
		}
		for _, name := range world.SplitNames(names) {
			if err := s.changeProcess(ctx, name, what); err != nil {
				return err
			}
		}
		return nil
	})
	sc.Step(`^the agent of cell "([^"]*)" is killed$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		s.Disturbed.Add("agent of "+cell, func(ctx context.Context) error { return s.AddOn.WaitAgent(ctx, cell) })
		return s.AddOn.KillAgent(ctx, cell)
	})
	sc.Step(`^the clock is started$`, func(ctx context.Context) error {
		from(ctx).state().clock = time.Now()
		return nil
	})
	sc.Step(`^at most (\d+) seconds have passed$`, func(ctx context.Context, seconds int) error {
		s := from(ctx)
		passed := time.Since(s.state().clock)
		fmt.Fprintf(s.Out, "%s: %s passed\n", s.Name(), passed.Round(100*time.Millisecond))
		if passed > time.Duration(seconds)*time.Second {
			return fmt.Errorf("%s have passed", passed.Round(100*time.Millisecond))
		}
		return nil
	})
	sc.Step(`^a soak of (\d+) seconds with (\d+) Workloads, seed (\d+) and a fault every (\d+) seconds$`,
		func(ctx context.Context, seconds, workloads, seed, every int) error {
			return from(ctx).soak(ctx, soak.Options{
				//nolint:gosec // a number in a scenario
				Duration: time.Duration(seconds) * time.Second, Workloads: workloads, Seed: uint64(seed), Interval: time.Duration(every) * time.Second,
			})
		})
	sc.Step(`^Workload "rolling" is rolled out while processes "([^"]*)" are down for (\d+) seconds$`,
		func(ctx context.Context, processes string, seconds int) error {
			return from(ctx).rollOut(ctx, world.SplitNames(processes), time.Duration(seconds)*time.Second)
		})
	sc.Step(`^no voluntary disruption has missed the budget, and each Instance was replaced once$`, func(ctx context.Context) error {
		var problems []error
		for _, result := range from(ctx).state().rolled {
			problems = append(problems, result.Err())
		}
		return errors.Join(problems...)
	})
	sc.Step(`^project, hub and cells agree$`, func(ctx context.Context) error {
		return from(ctx).state().soaked.Err()
	})
}

// Killed returns when the scenario has last begun to kill processes.
func Killed(s *world.Scenario) time.Time { return Steps{s}.state().killed }

// changeProcess kills a process of the federation, or starts it again. At the latest it is started at the end of the
// scenario.
func (s Steps) changeProcess(ctx context.Context, name, what string) error {
	undo := "process " + name
	if what == "started again" {
		return s.Disturbed.Now(ctx, undo)
	}
	s.Disturbed.Add(undo, func(ctx context.Context) error { return s.Federation.StartAgain(ctx, name) })
	return s.Federation.KillProcess(name)
}

// rollOut rolls out a Workload of the scenario's project, while processes are down.
func (s Steps) rollOut(ctx context.Context, processes []string, down time.Duration) error {
	rolling := &soak.Rolling{
		Soak: s.newSoak(soak.Options{Projects: []string{s.Project}}),
		Down: down, Faults: []soak.RollingFault{{Name: strings.Join(processes, ", "), Processes: processes}},
	}
	results, err := rolling.Run(ctx)
	s.state().rolled = results
	return err
}

// newSoak returns a soak in the scenario's namespace.
func (s Steps) newSoak(o soak.Options) *soak.Soak {
	return &soak.Soak{
		Options: o, Planes: s.Planes, AddOn: s.AddOn, Namespace: s.Namespace, Consumer: world.Consumer,
		Patience: world.Patience, Out: s.Out,
	}
}

// soak runs a soak in the scenario's namespace of all projects that it has one in.
func (s Steps) soak(ctx context.Context, o soak.Options) error {
	for project := range s.HubNamespaces {
		o.Projects = append(o.Projects, project)
	}
	o.Cities = []string{"DFW", "ORD"}
	// No processes of cells that other scenarios have added: the soak does not use them.
	o.Processes = []string{"hub-kube-apiserver", "karmada-controller-manager", "replica/*"}
	for _, city := range o.Cities {
		cell := naming.CityLabel(city)
		o.Processes = append(o.Processes, "cell-"+cell+"-kube-apiserver", "agent/"+cell)
	}
	const pace = time.Second
	o.Pace = pace
	result, err := s.newSoak(o).Run(ctx)
	if err != nil {
		return err
	}
	s.state().soaked = result
	fmt.Fprintln(s.Out, result)
	return nil
}
