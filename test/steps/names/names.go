// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names has the sentences about the DNS names of Workloads, and the load balancers of cells.
package names

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/containers"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about names.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// Register adds the sentences.
func Register(sc world.Sentences) {
	sc.Step(`^cells "([^"]*)" have load balancers( and Gateways)?, and a DNS server answers the names of Workloads$`,
		func(ctx context.Context, cells, gateways string) error {
			s, named := from(ctx), world.SplitNames(cells)
			if err := s.names().Start(ctx, s.Federation, named); err != nil || gateways == "" {
				return err
			}
			return s.names().StartGateways(ctx, s.Federation, named)
		})
	sc.Step(`^Instances in cell "([^"]*)" resolve the names of Services$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		return s.names().StartCellDNS(ctx, s.Federation, cell)
	})
	sc.Step(`^name "([^"]*)" has the addresses of cells "([^"]*)"$`, func(ctx context.Context, name, cells string) error {
		s := from(ctx)
		return world.Eventually(ctx, func(ctx context.Context) error { return s.answers(ctx, s.Expand(name), world.SplitNames(cells)) })
	})
	sc.Step(`^name "([^"]*)" has the address of the Gateway of cell "([^"]*)"$`, func(ctx context.Context, name, cell string) error {
		s := from(ctx)
		return world.Eventually(ctx, func(ctx context.Context) error { return s.isAtGateway(ctx, s.Expand(name), cell) })
	})
	sc.Step(`^a request in clear text for name "([^"]*)" is redirected to TLS$`, func(ctx context.Context, name string) error {
		s := from(ctx)
		return s.names().IsRedirected(ctx, s.Expand(name))
	})
	sc.Step(`^name "([^"]*)" still has the addresses of cells "([^"]*)"$`, func(ctx context.Context, name, cells string) error {
		s := from(ctx)
		return s.answers(ctx, s.Expand(name), world.SplitNames(cells))
	})
	sc.Step(`^name "([^"]*)" loses the addresses of cell "([^"]*)", which the hub has lost$`,
		func(ctx context.Context, name, cell string) error {
			s := from(ctx)
			return s.loses(ctx, s.Expand(name), cell)
		})
	sc.Step(`^name "([^"]*)" has no addresses$`, func(ctx context.Context, name string) error {
		s := from(ctx)
		return world.Eventually(ctx, func(ctx context.Context) error { return s.answers(ctx, s.Expand(name), nil) })
	})
	sc.Step(`^a client sends a request to name "([^"]*)" every 50 ms$`, func(ctx context.Context, name string) error {
		s := from(ctx)
		at := s.Expand(name)
		if err := world.Eventually(ctx, func(ctx context.Context) error { return s.names().Request(ctx, at, 0) }); err != nil {
			return err
		}
		return containers.In(s.Scenario).BeginTraffic(ctx, at, func(ctx context.Context, n int) error {
			return s.names().Request(ctx, at, n)
		})
	})
}

// names are the processes for the names of the federation, from the first scenario that needs them.
func (s Steps) names() *federation.Names { return world.Shared[federation.Names](s.World) }

// answers fails unless a name has an address of each of these cells, and of no other.
func (s Steps) answers(ctx context.Context, name string, cells []string) error {
	addresses, err := s.names().Resolve(ctx, name)
	if err != nil {
		return err
	}
	var found []string
	for _, address := range addresses {
		found = append(found, s.names().CellOf(address))
	}
	slices.Sort(found)
	slices.Sort(cells)
	if !slices.Equal(found, cells) {
		return fmt.Errorf("%s has the addresses %v, of cells %q", name, addresses, strings.Join(found, ", "))
	}
	return nil
}

// isAtGateway fails unless a name has the address of the Gateway of a cell alone.
func (s Steps) isAtGateway(ctx context.Context, name, cell string) error {
	addresses, err := s.names().Resolve(ctx, name)
	if err != nil {
		return err
	}
	if at := s.names().Gateway(cell); len(addresses) != 1 || addresses[0].String() != at {
		return fmt.Errorf("%s has the addresses %v; the Gateway of cell %s has %s", name, addresses, cell, at)
	}
	return nil
}
