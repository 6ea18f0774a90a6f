// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// KarmadaLease is the Lease by which karmada-controller-manager elects its leader.
var KarmadaLease = client.ObjectKey{Namespace: "karmada-system", Name: "karmada-controller-manager"}

const (
	// karmadaInterval is the interval between reads of the Lease. The leader renews it more often.
	karmadaInterval = 10 * time.Second
	// karmadaPatience is how long the Lease may remain unchanged. A standby takes over sooner.
	karmadaPatience = 30 * time.Second
	// karmadaGap is how long the Lease remains unchanged between two polls at most while its holder runs. A holder that ends without
	// releasing the Lease is succeeded later.
	karmadaGap = karmadaInterval + 5*time.Second
	// judgesAfter is how long a karmada-controller-manager that has begun may report a cell as not Ready that is reached. It
	// takes a first failed probe for a failure, and believes in success after 30 s and up to 10 s for the next probe. A cell in
	// pull mode must have found the hub again.
	judgesAfter = time.Minute
)

// Karmada is the state of karmada-controller-manager. The zero value: one is running, or its state cannot be known.
type Karmada struct {
	// Pending: this process has not watched long enough to know.
	Pending bool
	// Down: no karmada-controller-manager is running.
	Down bool
	// Since is when one was last observed running.
	Since time.Time
	// Message explains Down.
	Message string
	// MayReachFor is how long a cell that is reported as not Ready may still be reached: karmada-controller-manager has begun a moment
	// ago, or the hub has not answered since then. 0: it has judged for long enough.
	MayReachFor time.Duration
}

// KarmadaWatch reads the Lease from time to time. It is safe for concurrent use.
type KarmadaWatch struct {
	hub   client.Reader
	clock clock.PassiveClock

	mu sync.Mutex
	// renewed is the Lease's last renewal, as its holder wrote it: it is compared with the next one, never with a clock.
	renewed string
	// changed is when a renewal was last observed, and answered when the hub last answered, by the clock of this process. begun is
	// when the first renewal of another holder, or after a gap, was observed; zero: the holder ran before this process.
	changed, answered, begun time.Time
	// holder is the holder of the Lease.
	holder string
	// last is the last error.
	last error
	// confirmed: a holder was observed running, or its state cannot be known.
	confirmed bool
	// down and pending are from the last poll.
	down, pending bool
	// toldDown: a caller was told since the last poll that no karmada-controller-manager is running.
	toldDown    bool
	subscribers []func()
}

// NewKarmadaWatch returns a Watch that reads the hub past the cache. Until Start or Poll, its State is pending.
func NewKarmadaWatch(hub client.Reader, c clock.PassiveClock) *KarmadaWatch {
	return &KarmadaWatch{hub: hub, clock: c, answered: c.Now(), pending: true}
}

// Subscribe calls f after each change of whether karmada-controller-manager is running, and once when the state is
// first known. f must not block.
func (w *KarmadaWatch) Subscribe(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.subscribers = append(w.subscribers, f)
}

// NeedLeaderElection is false: every replica judges for itself.
func (w *KarmadaWatch) NeedLeaderElection() bool { return false }

// Start polls until ctx ends.
func (w *KarmadaWatch) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, w.Poll, karmadaInterval)
	return nil
}

// Poll reads the Lease once.
func (w *KarmadaWatch) Poll(ctx context.Context) {
	lease := &coordinationv1.Lease{}
	err := w.hub.Get(ctx, KarmadaLease, lease)
	if ctx.Err() != nil {
		return
	}
	w.note(lease, err)
	w.mu.Lock()
	state := w.state()
	// Time passes between two polls: a caller that was told in between that none is running must learn that one is.
	settled, flipped, subscribers := w.pending && !state.Pending, state.Down != w.down || !state.Down && w.toldDown, w.subscribers
	w.down, w.pending, w.toldDown = state.Down, state.Pending, false
	w.mu.Unlock()
	if flipped {
		if state.Down {
			log.FromContext(ctx).Info("karmada-controller-manager is not running", "message", state.Message)
		} else {
			log.FromContext(ctx).Info("karmada-controller-manager is running")
		}
	}
	if !flipped && !settled {
		return
	}
	for _, notify := range subscribers {
		notify()
	}
}

// note records an answer. An absent or forbidden Lease is no evidence that karmada-controller-manager is down.
func (w *KarmadaWatch) note(lease *coordinationv1.Lease, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	w.last = err
	if apierrors.ReasonForError(err) != "" || err == nil {
		w.answered = now
	}
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		w.renewed, w.changed, w.confirmed = "", time.Time{}, true
	case err == nil:
		holder := fmt.Sprint(lease.UID, ptr.Deref(lease.Spec.HolderIdentity, ""))
		renewed := fmt.Sprint(holder, lease.Spec.RenewTime)
		if renewed == w.renewed {
			return
		}
		if w.renewed != "" {
			w.confirmed = true
			if holder != w.holder || now.Sub(w.changed) > karmadaGap {
				w.begun = now
			}
		}
		w.renewed, w.holder, w.changed = renewed, holder, now
	}
}

// State reports whether karmada-controller-manager is running now.
func (w *KarmadaWatch) State() Karmada {
	w.mu.Lock()
	defer w.mu.Unlock()
	state := w.state()
	state.MayReachFor = w.mayReachFor()
	w.toldDown = w.toldDown || state.Down
	return state
}

func (w *KarmadaWatch) state() Karmada {
	now := w.clock.Now()
	switch {
	case w.last != nil && now.Sub(w.answered) >= karmadaPatience:
		return Karmada{
			Down: true, Since: w.answered,
			Message: fmt.Sprintf("the hub has not answered since %s", w.answered.UTC().Format(time.RFC3339)),
		}
	case !w.changed.IsZero() && now.Sub(w.changed) >= karmadaPatience:
		return Karmada{
			Down: true, Since: w.changed,
			Message: fmt.Sprintf("no karmada-controller-manager has renewed Lease %s since %s", KarmadaLease, w.changed.UTC().Format(time.RFC3339)),
		}
	}
	return Karmada{Pending: !w.confirmed}
}

// mayReachFor is MayReachFor now.
func (w *KarmadaWatch) mayReachFor() time.Duration {
	now := w.clock.Now()
	if !w.changed.IsZero() && now.Sub(w.changed) > karmadaGap {
		return judgesAfter
	}
	return max(0, w.begun.Add(judgesAfter).Sub(now))
}
