// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Addresses for documentation alone (RFC 5737, RFC 3849). No host has them.
var (
	unused4 = netip.MustParseAddr("203.0.113.1")
	unused6 = netip.MustParseAddr("2001:db8::1")
)

// decoyFor is how long it is known whether a decoy answers.
const decoyFor = time.Minute

// decoys find out at which ports answers prove nothing: a proxy between the replica and the addresses that accepts every connection accepts
// the one to an address that no host has, too. A dead address would answer for as long as the proxy is there.
type decoys struct {
	// v4 and v6 are the addresses that no host has.
	v4, v6 netip.Addr
	asking singleflight.Group

	mu sync.Mutex
	// known are the last results by port. The API bounds the ports.
	known map[netip.AddrPort]decoy
}

// decoy is whether an address that no host has has answered, and when.
type decoy struct {
	answers bool
	at      time.Time
}

func newDecoys() *decoys { return &decoys{v4: unused4, v6: unused6, known: map[netip.AddrPort]decoy{}} }

// answer reports whether the decoy for an address answers at its port. Questions to many addresses at once ask it once, and a fault of
// the replica itself leaves the result before.
func (d *decoys) answer(ctx context.Context, address netip.AddrPort) bool {
	to := netip.AddrPortFrom(d.v6, address.Port())
	if address.Addr().Unmap().Is4() {
		to = netip.AddrPortFrom(d.v4, address.Port())
	}
	d.mu.Lock()
	last, isKnown := d.known[to]
	d.mu.Unlock()
	if isKnown && time.Since(last.at) < decoyFor {
		return last.answers
	}
	result, _, _ := d.asking.Do(to.String(), func() (any, error) { return d.ask(ctx, to, last.answers), nil })
	return result.(bool) //nolint:forcetypeassert // ask's
}

// ask connects to a decoy. before is the last result.
func (d *decoys) ask(ctx context.Context, to netip.AddrPort, before bool) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := try(ctx, &net.Dialer{}, &Target{}, to.String())
	if answers := err == nil; answers && !before {
		log.FromContext(ctx).Info("A proxy accepts connections to addresses that no host has: answers at this port prove nothing, and the "+
			"addresses of names are not asked there", "port", to.Port())
	}
	if errors.Is(err, context.Canceled) || isOwn(err) {
		return before
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[to] = decoy{answers: err == nil, at: time.Now()}
	return err == nil
}
