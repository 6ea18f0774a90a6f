// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"time"

	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/test/soak"
)

// addFaultSteps are the sentences about processes that are killed, and about how long it takes until that is healed.
func addFaultSteps(sc sentences) {
	sc.Step(`^process(?:es)? "([^"]*)" (?:is|are) (killed|started again)$`, func(ctx context.Context, names, what string) error {
		s := from(ctx)
		for _, name := range splitNames(names) {
			if err := s.changeProcess(ctx, name, what); err != nil {
				return err
			}
		}
		return nil
	})
	sc.Step(`^the agent of cell "([^"]*)" is killed$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		s.disturbed.add("agent of "+cell, func(ctx context.Context) error { return s.addOn.WaitAgent(ctx, cell) })
		return s.addOn.KillAgent(ctx, cell)
	})
	sc.Step(`^the clock is started$`, func(ctx context.Context) error {
		from(ctx).watched.from = time.Now()
		return nil
	})
	sc.Step(`^at most (\d+) seconds have passed$`, func(ctx context.Context, seconds int) error {
		s := from(ctx)
		passed := time.Since(s.watched.from)
		fmt.Fprintf(s.out, "%s: %s passed\n", s.run.name, passed.Round(100*time.Millisecond))
		if passed > time.Duration(seconds)*time.Second {
			return fmt.Errorf("%s have passed", passed.Round(100*time.Millisecond))
		}
		return nil
	})
	sc.Step(`^a soak of (\d+) seconds with (\d+) Workloads, seed (\d+) and a fault every (\d+) seconds$`, func(ctx context.Context, seconds, workloads, seed, every int) error {
		return from(ctx).soak(ctx, soak.Options{
			Duration: time.Duration(seconds) * time.Second, Workloads: workloads, Seed: uint64(seed), Interval: time.Duration(every) * time.Second, //nolint:gosec // a number in a scenario
		})
	})
	sc.Step(`^project, hub and cells agree$`, func(ctx context.Context) error {
		return from(ctx).soaked.Err()
	})
}

// changeProcess kills a process of the federation, or starts it again, which happens at the end of the scenario at the latest.
func (s *scenario) changeProcess(ctx context.Context, name, what string) error {
	undo := "process " + name
	if what == "started again" {
		return s.disturbed.now(ctx, undo)
	}
	s.disturbed.add(undo, func(ctx context.Context) error { return s.federation.StartAgain(ctx, name) })
	return s.federation.KillProcess(name)
}

// soak runs a soak in the scenario's namespace of all projects that it has one in.
func (s *scenario) soak(ctx context.Context, o soak.Options) error {
	for project := range s.hubNamespaces {
		o.Projects = append(o.Projects, project)
	}
	o.Cities = []string{"DFW", "ORD"}
	// Not what runs in cells that other scenarios have added: killing that would show nothing.
	o.Processes = []string{"hub-kube-apiserver", "karmada-controller-manager", "replica/*"}
	for _, city := range o.Cities {
		cell := naming.CityLabel(city)
		o.Processes = append(o.Processes, "cell-"+cell+"-kube-apiserver", "agent/"+cell)
	}
	const pace = time.Second
	o.Pace = pace
	run := &soak.Soak{
		Options: o, Federation: s.federation, AddOn: s.addOn, Namespace: s.namespace, Consumer: consumer, Patience: patience, Out: s.out,
	}
	result, err := run.Run(ctx)
	if err != nil {
		return err
	}
	s.soaked = result
	fmt.Fprintln(s.out, result)
	return nil
}
