// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// touchFieldManager is the field manager of the annotation.
const touchFieldManager = client.FieldOwner("karmada-compute-repair")

// Repair is a difference between an object on the hub and its desired state.
type Repair struct {
	// Reason names the kind of fault, in CamelCase. It is a label of metrics.
	Reason string
	// Object is the object to repair.
	Object client.Object
	// Cell is the cell with the fault: it gets its own pauses and an equal share of the budget. "": the fault is of no
	// single cell.
	Cell string
	// Message describes the fault, for the log.
	Message string
}

// Repairer repairs objects on the hub, each after growing pauses, and all of them at a bounded rate that cells share
// equally. It is safe for concurrent use. Its history is in memory: after a restart the pauses begin again.
type Repairer struct {
	hub      client.Client
	clock    clock.PassiveClock
	budget   *budget
	history  *history
	repaired *prometheus.CounterVec
	failed   *prometheus.CounterVec
}

// NewRepairer returns a Repairer that writes to the hub, and registers its metrics.
func NewRepairer(hub client.Client, c clock.PassiveClock, registerer prometheus.Registerer) *Repairer {
	m := &Repairer{
		hub: hub, clock: c, budget: newBudget(c, perSecond, burst), history: newHistory(c),
		repaired: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_repairs_total",
			Help: "Repairs on the hub that trigger a Karmada reconcile of an object, by kind of the object and by fault.",
		}, []string{"kind", "reason"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_repair_errors_total",
			Help: "Failed repairs on the hub, by kind of the object and by fault.",
		}, []string{"kind", "reason"}),
	}
	registerer.MustRegister(m.repaired, m.failed)
	return m
}

// Touch annotates the object, so that Karmada gets an event and reconciles it. If it is too early for another attempt,
// it writes nothing and returns how long to wait. An object that is gone needs no repair.
func (m *Repairer) Touch(ctx context.Context, f Repair) (wait time.Duration, err error) {
	return m.Do(ctx, f, func(ctx context.Context) error {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid":         f.Object.GetUID(),
			"annotations": map[string]string{v1alpha.AnnotationRepairedAt: m.clock.Now().UTC().Format(time.RFC3339)},
		}})
		if err != nil {
			return err
		}
		// The client changes its argument, and f.Object may be from a cache.
		object, ok := f.Object.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("a copy of %T is no object", f.Object)
		}
		return m.hub.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), touchFieldManager)
	})
}

// ApplyAgain triggers Karmada to apply the Work of a Repair again, as Touch does for other objects: it does not try a Work again
// that it has seen. The Work is read from the API server. One that does not exist, is being deleted or that a person has
// suspended needs nothing.
func (m *Repairer) ApplyAgain(ctx context.Context, api client.Reader, f Repair, owner client.FieldOwner) (wait time.Duration, err error) {
	work := &workv1alpha1.Work{}
	if err := api.Get(ctx, client.ObjectKeyFromObject(f.Object), work); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	if !work.DeletionTimestamp.IsZero() || isSuspended(work) {
		return 0, nil
	}
	patch, err := repairPatch(work, toggled(work), m.clock.Now())
	if err != nil {
		return 0, err
	}
	f.Object = work
	return m.Do(ctx, f, func(ctx context.Context) error { return m.hub.Patch(ctx, work, patch, owner) })
}

// Do is Touch with another repair. A repair that fails counts as an attempt.
func (m *Repairer) Do(ctx context.Context, f Repair, repair func(context.Context) error) (wait time.Duration, err error) {
	kind, err := m.kindOf(f.Object)
	if err != nil {
		return 0, err
	}
	key := keyOf(kind, f)
	if rest := m.history.rest(key); rest > 0 {
		return rest, nil
	}
	if wait := m.budget.take(f.Cell); wait > 0 {
		return wait, nil
	}
	attempt := m.history.begin(key)
	if err := client.IgnoreNotFound(repair(ctx)); err != nil {
		m.failed.WithLabelValues(kind, f.Reason).Inc()
		return 0, fmt.Errorf("repair %s %s (%s): %w", kind, key.name, f.Reason, err)
	}
	m.repaired.WithLabelValues(kind, f.Reason).Inc()
	log.FromContext(ctx).Info("Triggered a Karmada reconcile", "kind", kind, "object", key.name.String(),
		"reason", f.Reason, "attempt", attempt, "fault", f.Message)
	return 0, nil
}

// Attempts returns how often the object was repaired for this reason recently: 0 if the fault is new.
func (m *Repairer) Attempts(f Repair) int {
	kind, err := m.kindOf(f.Object)
	if err != nil {
		return 0
	}
	return m.history.attempts(keyOf(kind, f))
}

func keyOf(kind string, f Repair) repairKey {
	return repairKey{kind: kind, name: client.ObjectKeyFromObject(f.Object), reason: f.Reason, cell: f.Cell}
}

func (m *Repairer) kindOf(object client.Object) (string, error) {
	kind, err := apiutil.GVKForObject(object, m.hub.Scheme())
	if err != nil {
		return "", fmt.Errorf("find the kind of %T: %w", object, err)
	}
	return kind.Kind, nil
}

const (
	// firstPause is the pause after the first repair of an object. It doubles with each further repair, up to
	// longestPause.
	firstPause   = 15 * time.Second
	longestPause = 10 * time.Minute
	// forgetAfter is how long after its last repair an object stays in the history. It is longer than any pause.
	forgetAfter = 30 * time.Minute
)

// repairKey is one fault of one object in one cell.
type repairKey struct {
	kind   string
	name   types.NamespacedName
	reason string
	cell   string
}

// attempts are the repairs of one fault.
type attempts struct {
	count int
	last  time.Time
}

// history records the repairs of each object. It is safe for concurrent use.
type history struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	faults map[repairKey]attempts
	// swept is when past faults were last removed.
	swept time.Time
}

func newHistory(c clock.PassiveClock) *history {
	return &history{clock: c, faults: map[repairKey]attempts{}, swept: c.Now()}
}

// rest returns how long the next repair has to wait; 0: not at all.
func (h *history) rest(k repairKey) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, found := h.known(k)
	if !found {
		return 0
	}
	return max(0, pauseAfter(known.count)-h.clock.Since(known.last))
}

// begin records a repair, now, and returns its number.
func (h *history) begin(k repairKey) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sweep()
	known, _ := h.known(k)
	known.count++
	known.last = h.clock.Now()
	h.faults[k] = known
	return known.count
}

func (h *history) attempts(k repairKey) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, _ := h.known(k)
	return known.count
}

// known returns the repairs of a fault that are not forgotten. h.mu is held.
func (h *history) known(k repairKey) (attempts, bool) {
	known, found := h.faults[k]
	if !found || h.clock.Since(known.last) >= forgetAfter {
		return attempts{}, false
	}
	return known, true
}

// sweep removes forgotten entries from time to time. h.mu is held.
func (h *history) sweep() {
	if h.clock.Since(h.swept) < forgetAfter {
		return
	}
	h.swept = h.clock.Now()
	for k, known := range h.faults {
		if h.clock.Since(known.last) >= forgetAfter {
			delete(h.faults, k)
		}
	}
}

// pauseAfter returns the pause after count repairs.
func pauseAfter(count int) time.Duration {
	wait := firstPause
	for i := 1; i < count && wait < longestPause; i++ {
		wait *= 2
	}
	return min(wait, longestPause)
}

const (
	// perSecond and burst bound the repairs of all cells together: a hub that recovers with thousands of faults must
	// not get an additional storm of writes.
	perSecond = 1
	burst     = 20
	// shareEnds is how long after its last request a cell keeps its share of the budget. It is longer than any caller
	// waits between requests.
	shareEnds = time.Minute
)

// budget divides the repairs equally among the cells that need any: a cell with thousands of faults delays no other
// cell. A cell alone has the whole budget. Another budget divides the tries to schedule again among projects. It is safe
// for concurrent use.
type budget struct {
	clock clock.PassiveClock

	mu  sync.Mutex
	all *rate.Limiter
	// cells are the shares of the cells that asked lately; "" is for objects that belong to no cell.
	cells map[string]*share
}

// share is a cell's part of the budget.
type share struct {
	limiter *rate.Limiter
	// asked is when the cell last asked.
	asked time.Time
}

func newBudget(c clock.PassiveClock, perSecond rate.Limit, burst int) *budget {
	return &budget{clock: c, all: rate.NewLimiter(perSecond, burst), cells: map[string]*share{}}
}

// take takes a repair out of a cell's share. It returns how long to wait before the next attempt; 0: the repair may
// begin.
func (b *budget) take(cell string) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	s := b.shareOf(cell, now)
	count := len(b.cells)
	s.limiter.SetLimitAt(now, b.all.Limit()/rate.Limit(count))
	// At once, a cell gets its share of the remaining repairs. Saved repairs of one cell must not delay another when
	// few remain.
	left := b.all.TokensAt(now)
	s.limiter.SetBurstAt(now, max(1, int(left)/count))
	if left < 1 {
		return b.pause(1)
	}
	if !s.limiter.AllowN(now, 1) {
		return b.pause(count)
	}
	b.all.AllowN(now, 1)
	return 0
}

// pause is how long count actions take.
func (b *budget) pause(count int) time.Duration {
	return time.Duration(float64(count) * float64(time.Second) / float64(b.all.Limit()))
}

// shareOf returns the share of a cell, and ends the shares of cells that no longer ask. b.mu is held.
func (b *budget) shareOf(cell string, now time.Time) *share {
	for name, s := range b.cells {
		if now.Sub(s.asked) > shareEnds {
			delete(b.cells, name)
		}
	}
	s := b.cells[cell]
	if s == nil {
		s = &share{limiter: rate.NewLimiter(b.all.Limit(), b.all.Burst())}
		b.cells[cell] = s
	}
	s.asked = now
	return s
}
