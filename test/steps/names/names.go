// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names has the sentences about the DNS names of Workloads, and the load balancers of cells.
package names

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/federation/node"
	"github.com/karmada-compute/karmada-compute/test/steps/containers"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about names.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// running has the processes for the names of a federation, from the first scenario that needs them.
type running struct {
	mu  sync.Mutex
	dns *federation.DNS
	// ranges are the addresses of the load balancers, and gateways the address of the Gateway, by cell.
	ranges, gateways map[string]string
	// cells have a DNS server for their Services.
	cells []string
}

// Register adds the sentences.
func Register(sc world.Sentences) {
	sc.Step(`^cells "([^"]*)" have load balancers( and Gateways)?, and a DNS server answers the names of Workloads$`,
		func(ctx context.Context, cells, gateways string) error {
			s, named := from(ctx), world.SplitNames(cells)
			if err := s.start(ctx, named); err != nil || gateways == "" {
				return err
			}
			return s.startGateways(ctx, named)
		})
	sc.Step(`^Instances in cell "([^"]*)" resolve the names of Services$`, func(ctx context.Context, cell string) error {
		return from(ctx).startCellDNS(ctx, cell)
	})
	sc.Step(`^name "([^"]*)" has the addresses of cells "([^"]*)"$`, func(ctx context.Context, name, cells string) error {
		s := from(ctx)
		return world.Eventually(ctx, func(ctx context.Context) error { return s.answers(ctx, s.Expand(name), world.SplitNames(cells)) })
	})
	sc.Step(`^name "([^"]*)" has the address of the Gateway of cell "([^"]*)"$`, func(ctx context.Context, name, cell string) error {
		s := from(ctx)
		return world.Eventually(ctx, func(ctx context.Context) error { return s.isAtGateway(ctx, s.Expand(name), cell) })
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
		if err := world.Eventually(ctx, func(ctx context.Context) error { return s.request(ctx, at, 0) }); err != nil {
			return err
		}
		return containers.In(s.Scenario).BeginTraffic(ctx, at, func(ctx context.Context, n int) error { return s.request(ctx, at, n) })
	})
}

// start starts what the federation does not run yet, and lets the load balancers of the cells give addresses.
func (s Steps) start(ctx context.Context, cells []string) (err error) {
	shared := world.Shared[running](s.World)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.dns == nil {
		if shared.dns, err = s.Federation.StartDNS(ctx); err != nil {
			shared.dns = nil
			return err
		}
		shared.ranges, shared.gateways = map[string]string{}, map[string]string{}
	}
	for _, cell := range cells {
		if shared.ranges[cell] != "" {
			continue
		}
		within, err := s.Federation.StartLoadBalancers(ctx, cell)
		if err != nil {
			return err
		}
		shared.ranges[cell] = within
	}
	return nil
}

// startGateways starts the Gateways that do not run yet, in cells with load balancers.
func (s Steps) startGateways(ctx context.Context, cells []string) error {
	shared := world.Shared[running](s.World)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, cell := range cells {
		if shared.gateways[cell] != "" {
			continue
		}
		at, err := s.Federation.StartGateway(ctx, cell, shared.ranges[cell])
		if err != nil {
			return err
		}
		shared.gateways[cell] = at
	}
	return nil
}

// startCellDNS starts the DNS server of a cell, once.
func (s Steps) startCellDNS(ctx context.Context, cell string) error {
	shared := world.Shared[running](s.World)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if slices.Contains(shared.cells, cell) {
		return nil
	}
	if err := s.Federation.StartCellDNS(ctx, cell); err != nil {
		return err
	}
	shared.cells = append(shared.cells, cell)
	return nil
}

// resolve returns the addresses of a name; none if the server has no answer.
func (s Steps) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	addresses, err := world.Shared[running](s.World).dns.Resolver().LookupNetIP(ctx, "ip4", name+".")
	var missing *net.DNSError
	if errors.As(err, &missing) && missing.IsNotFound {
		return nil, nil
	}
	return addresses, err
}

// answers fails unless a name has an address of each of these cells, and of no other.
func (s Steps) answers(ctx context.Context, name string, cells []string) error {
	addresses, err := s.resolve(ctx, name)
	if err != nil {
		return fmt.Errorf("resolve %s: %w", name, err)
	}
	shared := world.Shared[running](s.World)
	var found []string
	for _, address := range addresses {
		found = append(found, shared.cellOf(address))
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
	addresses, err := s.resolve(ctx, name)
	if err != nil {
		return fmt.Errorf("resolve %s: %w", name, err)
	}
	shared := world.Shared[running](s.World)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if len(addresses) != 1 || addresses[0].String() != shared.gateways[cell] {
		return fmt.Errorf("%s has the addresses %v; the Gateway of cell %s has %s", name, addresses, cell, shared.gateways[cell])
	}
	return nil
}

// cellOf returns the cell whose load balancers have an address.
func (r *running) cellOf(address netip.Addr) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for cell, within := range r.ranges {
		if prefix, err := netip.ParsePrefix(within); err == nil && prefix.Contains(address) {
			return cell
		}
	}
	return "no cell"
}

// request resolves a name, and sends request n to one of its addresses in turn.
func (s Steps) request(ctx context.Context, name string, n int) error {
	addresses, err := s.resolve(ctx, name)
	if err != nil {
		return fmt.Errorf("resolve %s: %w", name, err)
	}
	if len(addresses) == 0 {
		return fmt.Errorf("%s: %w", name, containers.ErrNoAddress)
	}
	address := addresses[n%len(addresses)]
	local, err := node.Local(address.String())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+local+"/", nil)
	if err != nil {
		return err
	}
	// A Gateway is shared: it finds the Workload by the name.
	request.Host = name
	response, err := fresh.Do(request)
	if err != nil {
		return fmt.Errorf("request to %s at %s: %w", name, address, err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("request to %s at %s: %s", name, address, response.Status), err)
	}
	return nil
}

// requestTimeout is how long a busy machine may take for one request.
const requestTimeout = 5 * time.Second

// fresh is a client with a connection for each request: each goes to the address that the name has then.
var fresh = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
