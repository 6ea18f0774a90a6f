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

// startNames starts a DNS server for Workloads, the load balancers of each cell, and a DNS server for the Services of each
// cell of containers.
func startNames(ctx context.Context, f *federation.Federation) (*federation.Names, error) {
	names := &federation.Names{}
	for _, cell := range f.Cells() {
		if cell.Containers > 0 {
			if err := names.StartCellDNS(ctx, f, cell.Name); err != nil {
				return nil, err
			}
		}
		if err := names.Start(ctx, f, []string{cell.Name}); err != nil {
			return nil, err
		}
	}
	return names, nil
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
		answers, err = answersOf(ctx, named, f.Cells(), name)
		return err
	}); err != nil {
		return err
	}
	for _, answer := range answers {
		d.screen.Line("  %s", answer)
	}
	return nil
}

// answersOf asks each address of a name, and fails unless each cell answers.
func answersOf(ctx context.Context, named *federation.Names, cells []federation.Cell, name string) ([]string, error) {
	addresses, err := named.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, cell := range cells {
		line := ""
		for _, address := range addresses {
			if named.CellOf(address) != cell.Name {
				continue
			}
			text, err := get(ctx, address)
			if err != nil {
				return nil, fmt.Errorf("%s in %s: %w", name, cell.City, err)
			}
			line = fmt.Sprintf("http://%s  %s  %s: %s", name, cell.City, address, text)
		}
		if line == "" {
			return nil, fmt.Errorf("%s has no address in %s yet, only %v", name, cell.City, addresses)
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
