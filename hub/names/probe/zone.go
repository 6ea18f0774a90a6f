// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// zoneInterval is the interval in which each record is asked for.
	zoneInterval = time.Minute
	// zoneAtOnce is the most questions to the resolver that wait for an answer, of all projects.
	zoneAtOnce = 64
	// silentAfter is the number of questions in a row without an answer after which that is logged.
	silentAfter = 3
)

// zone asks the operator's resolver for the records of names. It is safe for concurrent use.
type zone struct {
	server   string
	resolver *net.Resolver
	// unanswered counts the last questions without an answer.
	unanswered atomic.Int64
}

// newZone returns a zone whose resolver is at server, and never the machine's own one; nil without a server.
func newZone(server string) *zone {
	if server == "" {
		return nil
	}
	return &zone{server: server, resolver: &net.Resolver{
		PreferGo: true, StrictErrors: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server)
		},
	}}
}

// ask asks for the record of a name. An answer with one of the values is enough: a zone may give each client the addresses of another city.
// An answer without any of them is a failure, and may be the one of a wildcard.
func (z *zone) ask(ctx context.Context, target *Target) outcome {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := z.addresses(ctx, target.Host)
	if err != nil {
		if z.unanswered.Add(1) == silentAfter {
			log.FromContext(ctx).Error(err, "The DNS server of --names-resolver does not answer: nothing is concluded about records", "server",
				z.server)
		}
		return notAsked
	}
	z.unanswered.Store(0)
	for value := range strings.SplitSeq(target.Values, ",") {
		result := failed
		if ip, err := netip.ParseAddr(value); err != nil {
			result = z.askAlias(ctx, target.Host, value, found)
		} else if slices.Contains(found, ip) {
			result = answered
		}
		if result != failed {
			return result
		}
	}
	return failed
}

// askAlias finds out whether a name with these addresses is an alias of a host name. Where the provider has an alias type of its own, the
// name has addresses of the host name and no CNAME.
func (z *zone) askAlias(ctx context.Context, name, of string, found []netip.Addr) outcome {
	alias, err := z.resolver.LookupCNAME(ctx, name+".")
	switch {
	case err == nil && strings.EqualFold(strings.TrimSuffix(alias, "."), of):
		return answered
	case err != nil && !isMissing(err):
		return notAsked
	case len(found) == 0:
		return failed
	}
	others, err := z.addresses(ctx, of)
	switch {
	case err != nil || len(others) == 0:
		// The server of the zone need not know the host name of another party.
		return notAsked
	case slices.ContainsFunc(others, func(ip netip.Addr) bool { return slices.Contains(found, ip) }):
		return answered
	}
	return failed
}

// addresses returns the addresses of a name; none if it does not exist or has no address.
func (z *zone) addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	found, err := z.resolver.LookupNetIP(ctx, "ip", name+".")
	if isMissing(err) {
		return nil, nil
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found, err
}

// isMissing reports whether an error is the answer that a name has no such record.
func isMissing(err error) bool {
	answer, isAnswer := errors.AsType[*net.DNSError](err)
	return isAnswer && answer.IsNotFound
}
