// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// observer compares what is resolved and granted with how it was when a silence began. It is safe for concurrent use.
type observer struct {
	clock  clock.Clock
	cellOf func(netip.Addr) string

	mu sync.Mutex
	// now are the addresses of the names by who has said them, and claims the UIDs of the ResourceClaims by name.
	now    map[string][]string
	claims map[string]string
	// was and held are both when the silence began.
	was   map[string][]string
	held  map[string]string
	begun time.Time
	seen  observed
}

// observed has the observations during a silence.
type observed struct {
	failures  []failure
	changes   []nameChange
	withdrawn []string
}

// failure is a request that was not answered. The cell is empty if the name could not be resolved.
type failure struct {
	at   time.Duration
	cell string
	err  error
}

// nameChange is an address that a name has lost, or got, since the silence began. Each is noted once.
type nameChange struct {
	at time.Duration
	// source names the server or the object, and the Workload.
	source, address, cell string
	lost                  bool
}

func newObserver(c clock.Clock, cellOf func(netip.Addr) string) *observer {
	return &observer{clock: c, cellOf: cellOf, now: map[string][]string{}, claims: map[string]string{}}
}

// begin begins to compare.
func (o *observer) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun, o.seen, o.was, o.held = o.clock.Now(), observed{}, map[string][]string{}, o.claims
	maps.Copy(o.was, o.now)
}

// end returns what was seen since begin.
func (o *observer) end() observed {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen
}

// failed notes a request that was not answered.
func (o *observer) failed(cell string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.failures = append(o.seen.failures, failure{o.clock.Since(o.begun), cell, err})
}

// named notes the addresses of a name by a source.
func (o *observer) named(source string, addresses []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.Sort(addresses)
	o.now[source] = addresses
	before, compared := o.was[source]
	if !compared {
		return
	}
	for _, address := range before {
		if !slices.Contains(addresses, address) {
			o.changed(nameChange{source: source, address: address, lost: true})
		}
	}
	for _, address := range addresses {
		if !slices.Contains(before, address) {
			o.changed(nameChange{source: source, address: address})
		}
	}
}

func (o *observer) changed(change nameChange) {
	change.cell = "no cell"
	if address, err := netip.ParseAddr(change.address); err == nil {
		change.cell = o.cellOf(address)
	}
	for _, known := range o.seen.changes {
		if change.at = known.at; change == known {
			return
		}
	}
	change.at = o.clock.Since(o.begun)
	o.seen.changes = append(o.seen.changes, change)
}

// granted notes the ResourceClaims, with their UIDs.
func (o *observer) granted(claims map[string]string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, uid := range o.held {
		if claims[name] != uid && o.claims[name] == uid {
			o.seen.withdrawn = append(o.seen.withdrawn, fmt.Sprintf("%s after %.0f s", name, o.clock.Since(o.begun).Seconds()))
		}
	}
	o.claims = claims
}

// Sources of the addresses of a name.
const byServer, byHub = "the DNS server", "the DNSEndpoint"

// sourceOf is a source for the name of a Workload.
func sourceOf(source, workload string) string { return source + " of " + workload }

// observe begins to send requests to the names, and to read their DNSEndpoints and the ResourceClaims, until ctx ends.
func (s *Silence) observe(ctx context.Context, background *sync.WaitGroup) *federation.Traffic {
	s.observer = newObserver(s.Clock, s.names.CellOf)
	s.look(ctx)
	background.Go(func() {
		for sleepUntil(ctx, s.Clock, s.Clock.Now().Add(time.Second)) {
			s.look(ctx)
		}
	})
	return federation.BeginTraffic(ctx, s.request)
}

// request sends request n to one of the names in turn.
func (s *Silence) request(ctx context.Context, n int) error {
	workloads := namedWorkloads()
	workload, turn := workloads[n%len(workloads)], n/len(workloads)
	addresses, err := s.names.Resolve(ctx, s.nameOf(workload))
	if err == nil && len(addresses) == 0 {
		err = federation.ErrNoAddress
	}
	cell := ""
	if err == nil || len(addresses) == 0 {
		var texts []string
		for _, address := range addresses {
			texts = append(texts, address.String())
		}
		s.observer.named(sourceOf(byServer, workload), texts)
	}
	if err == nil && s.Containers {
		address := addresses[turn%len(addresses)]
		cell, err = s.names.CellOf(address), s.names.RequestAt(ctx, s.nameOf(workload), address)
	}
	if err != nil && ctx.Err() == nil {
		s.observer.failed(cell, err)
	}
	return err
}

// look reads the DNSEndpoint and the ResourceClaims, if their API servers answer.
func (s *Silence) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if records, err := listKind(ctx, s.collector.planes[hubPlane], "externaldns.k8s.io/v1alpha1", "DNSEndpoint"); err == nil {
		for _, workload := range namedWorkloads() {
			s.observer.named(sourceOf(byHub, workload), targets(records, s.nameOf(workload)))
		}
	}
	if s.Federation.WithoutMilo() {
		return
	}
	// Past Milo, which may be down.
	if claims, err := listKind(ctx, s.Client(projectPlane+s.Projects[0], federation.Admin), "quota.miloapis.com/v1alpha1",
		"ResourceClaim"); err == nil {
		held := map[string]string{}
		for i := range claims {
			if claims[i].GetDeletionTimestamp() == nil {
				held[claims[i].GetName()] = string(claims[i].GetUID())
			}
		}
		s.observer.granted(held)
	}
}

// lookTimeout bounds one look.
const lookTimeout = 10 * time.Second

func listKind(ctx context.Context, c client.Client, version, kind string) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind+"List"))
	err := c.List(ctx, list)
	return list.Items, err
}

// targets are the addresses of a name in DNSEndpoints.
func targets(records []unstructured.Unstructured, name string) []string {
	var result []string
	for i := range records {
		endpoints, _, _ := unstructured.NestedSlice(records[i].Object, "spec", "endpoints") // of another type: it has no addresses
		for _, one := range endpoints {
			if endpoint, _ := one.(map[string]any); endpoint["dnsName"] == name {
				found, _, _ := unstructured.NestedStringSlice(endpoint, "targets")
				result = append(result, found...)
			}
		}
	}
	return result
}
