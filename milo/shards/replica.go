// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	// Client reads and writes Leases, past every cache.
	Client client.Client
	// Namespace holds the Leases. It must exist.
	Namespace string
	// Name is unique among the replicas that run.
	Name string
	// Count is the number of shards.
	Count int
	// LeaseDuration is the longest time until the shards of a replica that was killed have another owner.
	LeaseDuration time.Duration
	// Own is called with each shard that this replica has got, from 0. The context ends when it has lost the shard. It must return at once.
	Own func(ctx context.Context, shard int)
	// Reach says whether this replica can do anything for its shards. Nil: nobody knows. It must return at once.
	Reach func() Reach
	// Clock is for the Leases.
	Clock clock.WithDelayedExecution
	// Log gets the shards that this replica gets and loses.
	Log logr.Logger
}

// Replica is this process among those that share the shards.
type Replica struct {
	options Options
	name    string
	at      timings
	fence   *fence
	own     *ownLease

	// The next renewal and the next look.
	renewAt, lookAt time.Time
	seen            sightings
	// asked is when the last look was asked for.
	asked time.Time
	// isCutOff says that this replica has left its shards to others that reach what it does not.
	isCutOff atomic.Bool
}

// New makes a Replica. It sends no request before it runs.
func New(options Options) *Replica {
	// It is part of the name of a Lease.
	name, at := sanitize.DNS1123(options.Name), timingsFor(options.LeaseDuration)
	return &Replica{
		options: options,
		name:    name,
		at:      at,
		fence:   &fence{clock: options.Clock, log: options.Log, owned: map[int]context.CancelFunc{}},
		own: &ownLease{
			client: options.Client, namespace: options.Namespace, name: leasePrefix + name,
			holder: name, process: string(uuid.NewUUID()), lasts: at.lease,
		},
		seen: sightings{},
	}
}

// leaveTimeout bounds what a replica does that stops.
const leaveTimeout = 5 * time.Second

// Run shares the shards with the other replicas until ctx ends. Errors are retried: while the hub does not answer, this replica keeps
// its shards as long as its Lease lasts.
func (r *Replica) Run(ctx context.Context) error {
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
		case <-timer.C():
		}
		timer.Stop()
	}
	r.leave(ctx)
	return nil
}

func (r *Replica) now() time.Time { return r.options.Clock.Now() }

// renew renews the Lease of this replica, soon again if that fails.
func (r *Replica) renew(ctx context.Context) {
	if err := r.announce(ctx, r.own.record); err != nil && ctx.Err() == nil {
		r.options.Log.Info("The Lease of this replica is not renewed; retrying", "error", err.Error())
	}
}

// announce renews the Lease of this replica with the record that it goes by.
func (r *Replica) announce(ctx context.Context, record types.UID) error {
	sent := r.now()
	// Half of what is left: a request that hangs must leave time for another one.
	bounded, cancel := context.WithTimeout(ctx, max(r.fence.left()/2, r.at.retry))
	defer cancel()
	seen, known := r.seen[r.name]
	r.own.standing = r.standing()
	if err := r.own.renew(bounded, record, sent, known && !r.asked.Before(seen.ends())); err != nil {
		r.renewAt = r.now().Add(r.at.retry)
		if errors.Is(err, errTaken) {
			r.fence.close()
		}
		return err
	}
	r.fence.extend(sent.Add(r.at.fence))
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

// look reads all Leases, and has this replica get and lose shards.
func (r *Replica) look(ctx context.Context) {
	asked := r.now()
	r.lookAt = asked.Add(r.at.look)
	// It must not delay a renewal.
	bounded, cancel := context.WithTimeout(ctx, max(min(r.at.request, r.renewAt.Sub(asked)), r.at.retry))
	defer cancel()
	v, err := r.list(bounded)
	if err == nil {
		r.asked = asked
		r.seen.update(v, r.now(), r.at.lease)
		err = r.follow(ctx, v)
	}
	for _, seen := range r.seen {
		// What ends before the next look is looked at when it ends.
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

func (r *Replica) list(ctx context.Context) (view, error) {
	var leases coordinationv1.LeaseList
	if err := r.options.Client.List(ctx, &leases, client.InNamespace(r.options.Namespace), labels); err != nil {
		return view{}, fmt.Errorf("list the Leases of replicas: %w", err)
	}
	return newView(leases.Items, r.options.Count)
}

// follow stops shards that this replica has lost, and takes or gives up what makes its number even with those of the others.
func (r *Replica) follow(ctx context.Context, v view) error {
	if v.record == nil || v.record.UID != r.own.record {
		// Whatever it owns is by a record that somebody has deleted.
		r.stop(r.fence.shards())
	}
	if r.fence.left() <= 0 {
		// This replica counts only after it has renewed its Lease.
		return nil
	}
	if v.record == nil {
		// All replicas go by it before any takes a shard.
		defer func() { r.lookAt = r.now() }()
		return r.createRecord(ctx)
	}
	if v.record.UID != r.own.record {
		if err := r.announce(ctx, v.record.UID); err != nil {
			return err
		}
	}
	r.stop(slices.DeleteFunc(r.fence.shards(), func(shard int) bool { return v.division[shard] == r.name }))
	running := r.running()
	if r.judge(v, running); r.standing() != r.own.standing {
		// Others must not rely on what is not so any more.
		if err := r.announce(ctx, v.record.UID); err != nil {
			return err
		}
	}
	for _, replica := range running {
		if replica != r.name && !v.goesBy(replica, v.record.UID) {
			return nil
		}
	}
	next := v.division.without(func(replica string) bool { return slices.Contains(running, replica) }).balanced(r.name, r.members(v, running))
	if err := r.change(ctx, v, next); err != nil {
		return err
	}
	return r.removeEnded(ctx, v, running)
}

// change writes the record if this replica has to change it, or to have a shard that it has there already.
func (r *Replica) change(ctx context.Context, v view, next division) error {
	wanted := next.of(r.name)
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
	// An API server ignores an update that changes nothing, and so would not notice another replica's.
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

// removeEnded deletes the Leases of replicas that were killed. They have no shard any more.
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

// leave has others take the shards of this replica at once.
func (r *Replica) leave(ctx context.Context) {
	r.fence.close()
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
	if len(v.division.of(r.name)) == 0 {
		return nil
	}
	return r.write(ctx, v.record, v.division.without(func(replica string) bool { return replica != r.name }))
}
