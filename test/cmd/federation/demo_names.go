// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/federation/node"
	"github.com/karmada-compute/karmada-compute/test/pages"
)

// names are the processes that answer the names of Workloads.
type names struct {
	dns *federation.DNS
	// ranges are the addresses of each city's load balancers.
	ranges map[string]netip.Prefix
}

// startNames starts a DNS server for Workloads, the load balancers of each cell, and a DNS server for the Services of each
// cell of containers.
func startNames(ctx context.Context, f *federation.Federation) (*names, error) {
	dns, err := f.StartDNS(ctx)
	if err != nil {
		return nil, err
	}
	named := &names{dns: dns, ranges: map[string]netip.Prefix{}}
	for _, cell := range f.Cells() {
		if cell.Containers > 0 {
			if err := f.StartCellDNS(ctx, cell.Name); err != nil {
				return nil, err
			}
		}
		within, err := f.StartLoadBalancers(ctx, cell.Name)
		if err != nil {
			return nil, err
		}
		if named.ranges[cell.City], err = netip.ParsePrefix(within); err != nil {
			return nil, err
		}
	}
	return named, nil
}

// expose opens the Workload as a consumer does. Its cities leave the name a short time before their Instances stop.
const expose = `kubectl patch workload web --type merge --patch '
  {"spec": {
    "service": {"exposure": "LoadBalancer", "drainSeconds": 12, "ports": [{"port": 80}]},
    "template": {"spec": {"networkInterfaces": [{
      "network": {"name": "default"},
      "networkPolicy": {"ingress": [{"from": [{"podSelector": {}}, {"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 80}]}]}}]}}}}'
`

// open gives the tutorial's Workload an address in each city, and shows the answer of each city to a request to its name.
func (d *demo) open(ctx context.Context, f *federation.Federation, shell *pages.Shell) error {
	named, err := startNames(ctx, f)
	if err != nil {
		return err
	}
	page := &pages.Page{Path: "open the Workload", Blocks: []pages.Block{{Heading: "Open the Workload by its name", Commands: expose}}}
	if err := page.Run(ctx, shell, demoEventually, d.show); err != nil {
		return err
	}
	name := strings.NewReplacer("{workload}", "web", "{namespace}", f.NamespaceIn(demoProject), "{project}", demoProject).
		Replace(federation.NamesPattern)
	var answers []string
	if err := demoEventually(ctx, func(ctx context.Context) (err error) {
		answers, err = named.answers(ctx, name)
		return err
	}); err != nil {
		return err
	}
	for _, answer := range answers {
		d.screen.Line("  %s", answer)
	}
	return nil
}

// answers asks each address of a name, and fails unless each city answers.
func (n *names) answers(ctx context.Context, name string) ([]string, error) {
	addresses, err := n.dns.Resolver().LookupNetIP(ctx, "ip4", name+".")
	if err != nil {
		return nil, err
	}
	var lines []string
	for city, within := range n.ranges {
		line := ""
		for _, address := range addresses {
			if !within.Contains(address) {
				continue
			}
			text, err := get(ctx, address)
			if err != nil {
				return nil, fmt.Errorf("%s in %s: %w", name, city, err)
			}
			line = fmt.Sprintf("http://%s  %s  %s: %s", name, city, address, text)
		}
		if line == "" {
			return nil, fmt.Errorf("%s has no address in %s yet, only %v", name, city, addresses)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, nil
}

// answerLimit bounds how long an address may take to answer, and how much of the answer is read.
const (
	answerLimit = 5 * time.Second
	answerBytes = 1 << 10
)

// get returns the status and the first line of an answer.
func get(ctx context.Context, address netip.Addr) (text string, err error) {
	local, err := node.Local(address.String())
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+local+"/", http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerBytes))
	first, _, _ := strings.Cut(string(body), "\n")
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return response.Status + "  " + first, err
}
