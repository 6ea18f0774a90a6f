// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// annotationAskedBy of a replica's Lease names the replica that asks this one to renew it.
const annotationAskedBy = "compute.datumapis.com/asked-by"

// heard is the knowledge of this replica about another one that has chosen it as a witness.
type heard struct {
	process string
	// lease is the UID of this replica's own Lease in the pings.
	lease types.UID
	round int
	at    time.Time
	// asked says that this replica has asked the other one to renew its Lease in this round.
	asked bool
}

// witness hears the pings of other replicas. It is safe for concurrent use.
type witness struct {
	mu sync.Mutex
	// process is this one, and lease the UID of its Lease.
	process string
	lease   types.UID
	heard   map[string]heard
	// endpoints are those in the Leases.
	endpoints map[string]string
	// barred are the replicas whose pings are refused: some replica has asked them to renew their Leases, or is about to.
	barred map[string]bool
}

// Hear answers a ping. It does not wait.
func (r *Replica) Hear(ping Ping) Answer {
	w := r.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.concerns(ping) {
		return Refused
	}
	before, found := w.heard[ping.From]
	same := found && before.process == ping.Process && before.lease == ping.Lease
	switch {
	case same && before.asked && ping.Round == before.round:
		return Asked
	case w.barred[ping.From] || same && ping.Round != 0 && ping.Round < before.round:
		return Refused
	case ping.Round != 0:
		w.heard[ping.From] = heard{process: ping.Process, lease: ping.Lease, round: ping.Round, at: r.now()}
	}
	return Accepted
}

// concerns reports whether a ping is for this process and comes from the address in its sender's Lease. w.mu is held.
func (w *witness) concerns(ping Ping) bool {
	return ping.To == w.process && ping.Lease != "" && ping.Lease == w.lease && ping.Endpoint != "" && ping.Endpoint == w.endpoints[ping.From]
}

// see notes which replicas are asked to renew their Leases, before the moment from which they have time for that.
func (w *witness) see(v view, own string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lease = ""
	if lease := v.replicas[own]; lease != nil && lease.Annotations[annotationProcess] == w.process {
		w.lease = lease.UID
	}
	w.endpoints = map[string]string{}
	for name, lease := range v.replicas {
		w.endpoints[name] = lease.Annotations[annotationEndpoint]
		asked := lease.Annotations[annotationAskedBy] != ""
		if h, found := w.heard[name]; found && w.barred[name] && !asked && !h.asked {
			// It has answered another replica.
			h.at = now
			w.heard[name] = h
		}
		w.barred[name] = asked
	}
	gone := func(name string) bool { return v.replicas[name] == nil }
	maps.DeleteFunc(w.barred, func(name string, _ bool) bool { return gone(name) })
	maps.DeleteFunc(w.heard, func(name string, _ heard) bool { return gone(name) })
}

// isOf reports whether this replica is a witness of the process that renews a Lease.
func (w *witness) isOf(name string, lease *coordinationv1.Lease) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	h, found := w.heard[name]
	return found && h.process == lease.Annotations[annotationProcess] && w.lease != "" && h.lease == w.lease
}

// ends reports whether a Lease ends soon, because a replica has asked for its renewal and this replica refuses the
// pings of its owner.
func (w *witness) ends(name, own string, lease *coordinationv1.Lease) bool {
	writer := lease.Annotations[annotationAskedBy]
	if writer == "" || !w.isOf(name, lease) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return writer == own || !w.heard[name].asked
}

// silent are the replicas that have not pinged this one since a moment, and the moment at which the next one counts as
// silent.
func (w *witness) silent(since time.Time, lasts time.Duration) (names []string, next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, h := range w.heard {
		switch {
		case h.asked || w.barred[name]:
		case h.at.Before(since):
			names = append(names, name)
		case next.IsZero() || h.at.Add(lasts).Before(next):
			next = h.at.Add(lasts)
		}
	}
	return names, next
}

// bar refuses the pings of a replica from now on.
func (w *witness) bar(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.barred[name] = true
	h := w.heard[name]
	h.asked = true
	w.heard[name] = h
}

// unbar forgets a question that did not reach the hub. The next look decides whether pings are accepted.
func (w *witness) unbar(name string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.heard[name]
	h.asked, h.at = false, now
	w.heard[name] = h
}

// question asks silent replicas to renew their Leases. A running replica does that at once; the shards of the others
// are free soon. A replica that was itself stopped for a while asks nothing: it does not know which replicas were
// silent.
func (r *Replica) question(ctx context.Context, v view, now time.Time) error {
	since := now.Add(-r.at.silence)
	if since.Before(r.resumed) {
		return nil
	}
	names, next := r.witness.silent(since, r.at.silence)
	if !next.IsZero() && next.Before(r.lookAt) {
		r.lookAt = next.Add(time.Millisecond)
	}
	for _, name := range names {
		lease := v.replicas[name]
		if lease == nil || !r.witness.isOf(name, lease) {
			continue
		}
		r.witness.bar(name)
		r.options.Log.Info("A replica is silent; it is asked to renew its Lease", "replica", name)
		if err := r.ask(ctx, lease); apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			r.witness.unbar(name, now)
		} else if err != nil {
			return err
		}
		// Its time begins when this replica sees the question.
		r.lookAt = now
	}
	return nil
}

// ask writes into the Lease of another replica that it must be renewed.
func (r *Replica) ask(ctx context.Context, lease *coordinationv1.Lease) error {
	bounded, cancel := context.WithTimeout(ctx, r.at.request)
	defer cancel()
	lease = lease.DeepCopy()
	lease.Annotations[annotationAskedBy] = r.name
	if err := r.options.Client.Update(bounded, lease); err != nil {
		return fmt.Errorf("ask for a renewal of Lease %s: %w", lease.Name, err)
	}
	return nil
}
