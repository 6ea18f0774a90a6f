// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package repairs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/fair"
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
	budget   *fair.Budget
	history  *history
	repaired *prometheus.CounterVec
	failed   *prometheus.CounterVec
}

// NewRepairer returns a Repairer that writes to the hub, and registers its metrics.
func NewRepairer(hub client.Client, c clock.PassiveClock, registerer prometheus.Registerer) *Repairer {
	m := &Repairer{
		hub: hub, clock: c, budget: fair.NewBudget(c, perSecond, burst), history: newHistory(c),
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
	if !work.DeletionTimestamp.IsZero() || IsSuspended(work) {
		return 0, nil
	}
	patch, err := Patch(work, Toggled(work), m.clock.Now())
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
	if remaining := m.history.wait(key); remaining > 0 {
		return remaining, nil
	}
	if wait := m.budget.Take(f.Cell); wait > 0 {
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

// perSecond and burst bound the repairs of all cells together: a hub that recovers with thousands of faults must not get an
// additional storm of writes.
const (
	perSecond = 1
	burst     = 20
)
