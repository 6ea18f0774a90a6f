// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// shared is the range that providers use behind their own translation, as private as 10.0.0.0/8.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// rule decides to which addresses a replica connects. The hub has admitted each IP address by the operator's ranges, so that a private one
// is the operator's choice. Of a host name it has admitted the name alone: another party writes its addresses, which must not be private.
type rule struct {
	mu sync.Mutex
	// servers are the last known addresses of the replica's own API servers, by host.
	servers map[string][]netip.Addr
}

// newRule returns the rule for a replica with API servers at these URLs or hosts.
func newRule(servers []string) *rule {
	r := &rule{servers: map[string][]netip.Addr{}}
	for _, host := range servers {
		if parsed, err := url.Parse(host); err == nil && parsed.Hostname() != "" {
			host = parsed.Hostname()
		} else if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		r.servers[host] = nil
	}
	return r
}

// allows reports whether a replica may connect to an address; resolved: it is an address of a host name.
func (r *rule) allows(ip netip.Addr, resolved bool) bool {
	if ip = ip.Unmap(); !cells.Global(ip) || resolved && (ip.IsPrivate() || shared.Contains(ip)) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.servers {
		if slices.ContainsFunc(known, func(server netip.Addr) bool { return server.Unmap() == ip.WithZone("") }) {
			return false
		}
	}
	return true
}

const (
	// learnInterval is the interval in which the hosts of API servers are resolved, each within learnTimeout.
	learnInterval = time.Minute
	learnTimeout  = 5 * time.Second
)

// learn resolves the hosts of the API servers. A host that does not resolve keeps its last addresses.
func (r *rule) learn(ctx context.Context, resolve lookup) {
	for host := range r.servers {
		bounded, cancel := context.WithTimeout(ctx, learnTimeout)
		ips, err := resolve(bounded, "ip", host)
		cancel()
		if err == nil {
			r.mu.Lock()
			r.servers[host] = ips
			r.mu.Unlock()
		}
	}
}
