// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/util/sanitize"
)

// Options configure a Replica.
type Options struct {
	// Client reads and writes Leases, bypassing all caches.
	Client client.Client
	// Namespace holds the Leases. It must exist.
	Namespace string
	// Name is unique among the replicas that run.
	Name string
	// Count is the number of shards.
	Count int
	// LeaseDuration is the longest time until the shards of a replica that was killed have another owner.
	LeaseDuration time.Duration
	// Own is called with each shard that this replica acquires, from 0. The context ends when the replica loses the shard.
	// Own must return at once.
	Own func(ctx context.Context, shard int)
	// Peers sends pings to the other replicas, so that a replica that was killed is noticed before its Lease ends. Nil: no
	// replica sends any to this one.
	Peers Peers
	// Reach reports whether this replica can reach what its shards need. Nil: that is unknown. It must return at once.
	Reach func() Reach
	// Clock is for the Leases.
	Clock clock.WithDelayedExecution
	// Log gets the shards that this replica acquires and loses.
	Log logr.Logger
}

// Replica is this process as one of the replicas that share the shards.
type Replica struct {
	options Options
	name    string
	at      timings
	fence   *fence
	own     *ownLease
	// validity is how long the fence is open, and witness hears the pings of the others.
	validity *validity
	witness  *witness
	// woken has an element if a look is due.
	woken chan struct{}
	// resumed is when this process last began after it had not run for a while.
	resumed time.Time

	// Times of the next renewal and the next check.
	renewAt, lookAt time.Time
	seen            sightings
	// asked is the time of the request of the last check.
	asked time.Time
	// recordUID is the record by which this replica has shards: the one in the last check that had any. recordSeen is when a check
	// had this one first.
	recordUID  types.UID
	recordSeen time.Time
	// isCutOff reports that this replica has left its shards to other replicas because they reach servers that it does
	// not.
	isCutOff atomic.Bool
}

// New creates a Replica. It sends no request before it runs.
func New(options Options) *Replica {
	// It is part of the name of a Lease.
	name, at, process := sanitize.DNS1123(options.Name), timingsFor(options.LeaseDuration), string(uuid.NewUUID())
	fence := &fence{clock: options.Clock, log: options.Log, owned: map[int]context.CancelFunc{}}
	r := &Replica{
		options: options,
		name:    name,
		at:      at,
		fence:   fence,
		own: &ownLease{
			client: options.Client, namespace: options.Namespace, name: leasePrefix + name,
			holder: name, process: process, lasts: at.lease,
		},
		validity: &validity{fence: fence, at: at, peers: map[string]*peer{}},
		witness:  &witness{process: process, heard: map[string]heard{}, barred: map[string]bool{}},
		woken:    make(chan struct{}, 1),
		seen:     sightings{},
	}
	if options.Peers != nil {
		r.own.endpoint = options.Peers.Endpoint()
	}
	return r
}

// leaveTimeout bounds the requests of a replica that stops.
const leaveTimeout = 5 * time.Second

// Run shares the shards with the other replicas until ctx ends. Errors are retried: while the hub does not answer, this
// replica keeps its shards as long as its Lease lasts.
func (r *Replica) Run(ctx context.Context) error {
	if r.options.Peers != nil {
		var pinging sync.WaitGroup
		defer pinging.Wait()
		pinging.Go(func() { r.pings(ctx) })
	}
	for ctx.Err() == nil {
		if !r.now().Before(r.renewAt) {
			r.renew(ctx)
		}
		if !r.now().Before(r.lookAt) {
			r.look(ctx)
		}
		next := r.renewAt
		if r.lookAt.Before(next) {
			next = r.lookAt
		}
		timer := r.options.Clock.NewTimer(next.Sub(r.now()))
		select {
		case <-ctx.Done():
		case <-r.woken:
			r.lookAt = r.now()
		case <-timer.C():
			if now := r.now(); now.Sub(next) > r.at.ping {
				r.resumed = now
			}
		}
		timer.Stop()
	}
	r.leave(ctx)
	return nil
}

func (r *Replica) now() time.Time { return r.options.Clock.Now() }

// renew renews the Lease of this replica, soon again if that fails.
func (r *Replica) renew(ctx context.Context) {
	if err := r.announce(ctx); err != nil && ctx.Err() == nil {
		r.options.Log.Info("The Lease of this replica is not renewed; retrying", "error", err.Error())
	}
}

// announce renews the Lease of this replica.
func (r *Replica) announce(ctx context.Context) error {
	sent := r.now()
	// Half of what is left: a request that hangs must leave time for another one.
	bounded, cancel := context.WithTimeout(ctx, max(r.validity.renewalLeft(sent)/2, r.at.retry))
	defer cancel()
	seen, known := r.seen[r.name]
	r.own.standing = r.standing()
	askedBy, err := r.own.renew(bounded, sent, known && !r.asked.Before(seen.ends()))
	if err != nil {
		r.renewAt = r.now().Add(r.at.retry)
		if errors.Is(err, errTaken) {
			r.validity.end()
		}
		return err
	}
	r.validity.renewedAt(sent, askedBy)
	r.renewAt = sent.Add(r.at.renewal(len(r.running())))
	return nil
}

// running are the replicas that run as far as this one knows, itself among them.
func (r *Replica) running() []string {
	running := r.seen.running(r.asked)
	if !slices.Contains(running, r.name) {
		running = append(running, r.name)
	}
	return running
}

// look reads all Leases, and lets this replica acquire and release shards.
func (r *Replica) look(ctx context.Context) {
	asked := r.now()
	r.lookAt = asked.Add(r.at.look)
	// It must leave time for a renewal.
	left := max(r.renewAt.Sub(asked), r.validity.renewalLeft(asked)/2)
	bounded, cancel := context.WithTimeout(ctx, max(min(2*r.at.request, left), r.at.retry))
	defer cancel()
	v, err := r.list(bounded)
	if err == nil {
		r.asked = asked
		r.witness.see(v, r.name, r.now())
		r.seen.update(v, r.now(), r.at, func(replica string, lease *coordinationv1.Lease) bool {
			return r.witness.ends(replica, r.name, lease)
		})
		if err = r.clear(ctx, v); err == nil {
			err = r.follow(ctx, v)
		}
	}
	for _, seen := range r.seen {
		// A Lease that ends before the next check is checked when it ends.
		if ends := seen.ends(); ends.After(asked) && ends.Before(r.lookAt) {
			r.lookAt = ends
		}
	}
	switch {
	case ctx.Err() != nil:
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		r.lookAt = r.now().Add(r.at.contend)
	case err != nil:
		r.options.Log.Info("Failed to rebalance shards; retrying", "error", err.Error())
	}
}

// clear renews the Lease of this replica if another one asks for that.
func (r *Replica) clear(ctx context.Context, v view) error {
	lease := v.replicas[r.name]
	if lease == nil || lease.Annotations[annotationProcess] != r.own.process {
		return nil
	}
	if lease.Annotations[annotationAskedBy] == "" {
		r.validity.cleanAt(r.asked, v.replicas, r.name)
		return nil
	}
	r.options.Log.Info("Another replica hears nothing of this one; the Lease is renewed", "replica", lease.Annotations[annotationAskedBy])
	r.own.lease = lease
	return r.announce(ctx)
}

func (r *Replica) list(ctx context.Context) (view, error) {
	var leases coordinationv1.LeaseList
	if err := r.options.Client.List(ctx, &leases, client.InNamespace(r.options.Namespace), labels); err != nil {
		return view{}, fmt.Errorf("list the Leases of replicas: %w", err)
	}
	return newView(leases.Items, r.options.Count)
}

// follow stops shards that this replica has lost, and takes or releases shards until it has its share.
func (r *Replica) follow(ctx context.Context, v view) error {
	if v.record == nil || v.record.UID != r.recordUID {
		// The record of its shards was deleted.
		r.stop(r.fence.shards())
	}
	r.validity.lookedAt(r.asked)
	if v.record != nil && v.record.UID != r.recordUID {
		r.recordUID, r.recordSeen = v.record.UID, r.now()
	}
	if r.fence.left() <= 0 {
		// This replica counts only after it has renewed its Lease.
		return nil
	}
	if v.record == nil {
		defer func() { r.lookAt = r.now() }()
		return r.createRecord(ctx)
	}
	r.stop(slices.DeleteFunc(r.fence.shards(), func(shard int) bool { return v.division[shard] == r.name }))
	running := r.running()
	if r.updateCutOff(v, running); r.standing() != r.own.standing {
		// Other replicas must not rely on the former record.
		if err := r.announce(ctx); err != nil {
			return err
		}
	}
	if r.isNew(v.record) {
		return nil
	}
	if err := r.question(ctx, v, r.now()); err != nil {
		return err
	}
	next := v.division.without(func(replica string) bool { return slices.Contains(running, replica) }).balanced(r.name, r.members(v, running))
	if err := r.change(ctx, v, next); err != nil {
		return err
	}
	return r.removeEnded(ctx, v, running)
}

// change writes the record if this replica has to change it, or to have a shard that it has there already.
func (r *Replica) change(ctx context.Context, v view, next division) error {
	wanted := next.shardsOf(r.name)
	missing := slices.DeleteFunc(slices.Clone(wanted), func(shard int) bool { return slices.Contains(r.fence.shards(), shard) })
	if slices.Equal(next, v.division) && len(missing) == 0 {
		return nil
	}
	r.stop(slices.DeleteFunc(r.fence.shards(), func(shard int) bool { return slices.Contains(wanted, shard) }))
	if err := r.write(ctx, v.record, next); err != nil {
		return err
	}
	started := r.fence.start(ctx, missing)
	for shard, owned := range started {
		r.options.Own(owned, shard)
	}
	if len(started) > 0 {
		r.options.Log.Info("Shards are taken", "shards", missing)
	}
	return nil
}

func (r *Replica) stop(shards []int) {
	if len(shards) == 0 {
		return
	}
	r.fence.stop(shards)
	r.options.Log.Info("Shards released", "shards", shards)
}

// write replaces the division in the record, in the version that was read.
func (r *Replica) write(ctx context.Context, record *coordinationv1.Lease, next division) error {
	bounded, cancel := context.WithTimeout(ctx, r.at.request)
	defer cancel()
	record = record.DeepCopy()
	record.Annotations = map[string]string{annotationDivision: next.String()}
	record.Spec.AcquireTime = &metav1.MicroTime{Time: r.now()}
	// An API server ignores an update without a change, and so would not detect another replica's.
	transitions := int32(1)
	if before := record.Spec.LeaseTransitions; before != nil {
		transitions += *before
	}
	record.Spec.LeaseTransitions = &transitions
	if err := r.options.Client.Update(bounded, record); err != nil {
		return fmt.Errorf("write Lease %s: %w", recordName, err)
	}
	return nil
}

func (r *Replica) createRecord(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, r.at.request)
	defer cancel()
	record := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: r.options.Namespace, Name: recordName, Labels: labels}}
	if err := r.options.Client.Create(bounded, record); err != nil {
		return fmt.Errorf("create Lease %s: %w", recordName, err)
	}
	return nil
}

// removeEnded deletes the Leases of killed replicas, which have no shard any more.
func (r *Replica) removeEnded(ctx context.Context, v view, running []string) error {
	bounded, cancel := context.WithTimeout(ctx, r.at.request)
	defer cancel()
	for replica, lease := range v.replicas {
		if slices.Contains(running, replica) {
			continue
		}
		r.options.Log.Info("Replica is gone", "replica", replica)
		unchanged := client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}
		if err := client.IgnoreNotFound(r.options.Client.Delete(bounded, lease, unchanged)); err != nil {
			return fmt.Errorf("delete Lease %s: %w", lease.Name, err)
		}
	}
	return nil
}

// leave releases the shards for the other replicas.
func (r *Replica) leave(ctx context.Context) {
	r.validity.end()
	if r.own.lease == nil {
		return
	}
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	err := r.disown(leaving)
	for apierrors.IsConflict(err) && leaving.Err() == nil {
		err = r.disown(leaving)
	}
	if err == nil {
		err = r.own.remove(leaving)
	}
	if err != nil {
		r.options.Log.Error(err, "Failed to release the shards of this replica; others take them when its Lease ends")
	}
}

// disown removes the name of this replica from the record.
func (r *Replica) disown(ctx context.Context) error {
	v, err := r.list(ctx)
	if err != nil {
		return err
	}
	if len(v.division.shardsOf(r.name)) == 0 {
		return nil
	}
	return r.write(ctx, v.record, v.division.without(func(replica string) bool { return replica != r.name }))
}
