// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"errors"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
)

// annotationEndpoint of a replica's Lease is where the replica answers pings.
const annotationEndpoint = "compute.datumapis.com/endpoint"

// Peers carries pings between replicas. It is safe for concurrent use.
type Peers interface {
	// Endpoint is where this replica answers pings, and how others know it: a text for its Lease.
	Endpoint() string
	// Ping sends a ping to an endpoint. It returns nil if the ping was accepted, and ErrAsked if Hear has answered Asked.
	Ping(ctx context.Context, endpoint string, ping Ping) error
}

// ErrAsked is the error of a ping that was answered with Asked.
var ErrAsked = errors.New("the replica has asked this one to renew its Lease")

// Answer is the answer to a ping.
type Answer int

// Values of Answer.
const (
	// Accepted: nothing is known that would end the ownership of shards.
	Accepted Answer = iota
	// Refused: the ping is not for this process, or another replica has asked for a renewal.
	Refused
	// Asked: this replica has asked for a renewal.
	Asked
)

// Ping is a question of one process to another one.
type Ping struct {
	// From and Process are the replica that asks and its process.
	From    string `json:"from"`
	Process string `json:"process"`
	// Endpoint is where the process that asks answers pings itself.
	Endpoint string `json:"endpoint"`
	// To and Lease are the process that is asked, and the UID of its Lease.
	To    string    `json:"to"`
	Lease types.UID `json:"lease"`
	// Round is 0 if the ping only tries the path. Otherwise the process that is asked may ask this one to renew its Lease,
	// once for each round.
	Round int `json:"round"`
}

// peer is another replica that this one pings.
type peer struct {
	process, endpoint string
	lease             types.UID
	// round counts how often the peer became a witness.
	round int
	// witness says that the peer may ask this replica to renew its Lease, so that this replica depends on its answers.
	witness bool
	// acked is when the last ping was sent that the peer has accepted.
	acked time.Time
	// askedAt is when a ping was answered with Asked.
	askedAt time.Time
	// pending says that a ping has no answer yet.
	pending bool
}

// validity is how long this replica may own shards. Rule 6 of the package. It is safe for concurrent use.
type validity struct {
	fence *fence
	at    timings

	mu sync.Mutex
	// renewed is when the last renewal that succeeded was sent.
	renewed time.Time
	// looked is when the last question was sent that showed the record by which this replica has shards.
	looked time.Time
	// clean is when the last question was sent that showed that no replica had asked this one to renew its Lease.
	clean time.Time
	peers map[string]*peer
}

// until is the end of the validity. v.mu is held.
func (v *validity) until() time.Time {
	long, acked, witnesses := v.renewed.Add(v.at.fence), time.Time{}, 0
	if blind := v.looked.Add(v.at.fence); blind.Before(long) {
		long = blind
	}
	for _, p := range v.peers {
		if !p.witness {
			continue
		}
		if witnesses++; witnesses == 1 || p.acked.Before(acked) {
			acked = p.acked
		}
	}
	if witnesses == 0 {
		return long
	}
	if v.clean.After(acked) {
		acked = v.clean
	}
	if short := acked.Add(v.at.shortFence); short.Before(long) {
		return short
	}
	return long
}

// change changes what the validity depends on, and moves the fence.
func (v *validity) change(action func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	action()
	v.fence.extend(v.until())
}

// renewedAt notes a renewal that succeeded. It answers whoever had asked for one: the API server accepts it only for
// the version that has the question.
func (v *validity) renewedAt(sent time.Time, askedBy string) {
	v.change(func() {
		v.renewed, v.clean = sent, sent
		for name, p := range v.peers {
			// A question of the peer that has not arrived yet is refused from now on.
			if name == askedBy || !p.askedAt.IsZero() && p.askedAt.Before(sent) {
				p.witness, p.askedAt = false, time.Time{}
			}
		}
	})
}

// lookedAt notes a question whose answer had the record by which this replica has shards, or after which it has none.
func (v *validity) lookedAt(sent time.Time) { v.change(func() { v.looked = sent }) }

// cleanAt notes a question whose answer showed that no replica has asked this one to renew its Lease, and which others
// there are.
func (v *validity) cleanAt(sent time.Time, replicas map[string]*coordinationv1.Lease, own string) {
	v.change(func() {
		v.clean = sent
		for name, p := range v.peers {
			if lease := replicas[name]; lease == nil || !p.matches(lease) {
				delete(v.peers, name)
			}
		}
		for name, lease := range replicas {
			if v.peers[name] == nil && name != own && lease.Annotations[annotationEndpoint] != "" {
				v.peers[name] = &peer{
					process: lease.Annotations[annotationProcess], endpoint: lease.Annotations[annotationEndpoint], lease: lease.UID,
				}
			}
		}
	})
}

func (p *peer) matches(lease *coordinationv1.Lease) bool {
	return p.lease == lease.UID && p.process == lease.Annotations[annotationProcess] && p.endpoint == lease.Annotations[annotationEndpoint]
}

// knows reports whether a replica has answered a ping of this process since it has this Lease: it runs, and the Lease
// is its own.
func (v *validity) knows(name string, lease *coordinationv1.Lease) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.peers[name]
	return lease != nil && p != nil && p.matches(lease) && !p.acked.IsZero()
}

// end makes the replica own nothing before the next renewal.
func (v *validity) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.renewed = time.Time{}
	v.fence.close()
}

// renewalLeft is the time until the replica must own no shard because its Lease was not renewed.
func (v *validity) renewalLeft(now time.Time) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.renewed.Add(v.at.fence).Sub(now)
}

// pings sends a ping to every peer, and another one after some time, until ctx ends.
func (r *Replica) pings(ctx context.Context) {
	var sent sync.WaitGroup
	defer sent.Wait()
	for {
		r.validity.mu.Lock()
		for name, p := range r.validity.peers {
			if !p.pending {
				p.pending = true
				sent.Go(func() { r.ping(ctx, name, p) })
			}
		}
		r.validity.mu.Unlock()
		timer := r.options.Clock.NewTimer(r.at.ping)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// ping asks one peer. The first ping that is accepted makes the peer a witness.
func (r *Replica) ping(ctx context.Context, name string, p *peer) {
	v := r.validity
	v.mu.Lock()
	question := Ping{From: r.name, Process: r.own.process, Endpoint: r.own.endpoint, To: p.process, Lease: p.lease}
	if p.witness {
		question.Round = p.round
	}
	v.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, r.at.pingTimeout)
	defer cancel()
	sent := r.now()
	err := r.options.Peers.Ping(bounded, p.endpoint, question)
	if errors.Is(err, ErrAsked) {
		r.wake()
	}
	v.change(func() {
		p.pending = false
		switch current := v.peers[name] == p; {
		case errors.Is(err, ErrAsked):
			p.askedAt = r.now()
		case err != nil || !current:
		case !p.witness && question.Round == 0:
			p.witness, p.acked = true, sent
			p.round++
		case p.witness && question.Round == p.round:
			p.acked = sent
		}
	})
}

// wake triggers an immediate check of all Leases.
func (r *Replica) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}
