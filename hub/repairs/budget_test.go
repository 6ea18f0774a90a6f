// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package repairs

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// repairs counts the repairs of a Repairer by cell.
type repairs struct {
	t        *testing.T
	repairer *Repairer
	clock    *testclock.FakePassiveClock
	done     map[string]int
}

func newRepairs(t *testing.T) *repairs {
	t.Helper()
	r := &repairs{t: t, clock: testclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), done: map[string]int{}}
	r.repairer = NewRepairer(planes.New(t).Hub, r.clock, prometheus.NewRegistry())
	return r
}

// try requests a repair of one object of a cell.
func (r *repairs) try(cell, name string) {
	r.t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: cell, Name: name}}
	_, err := r.repairer.Do(r.t.Context(), Repair{Reason: "Forgotten", Object: object, Cell: cell}, func(context.Context) error {
		r.done[cell]++
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestOneCellDoesNotUseTheBudgetOfOthers: a cell with thousands of faults, which always asks first, leaves the others
// their share.
func TestOneCellDoesNotUseTheBudgetOfOthers(t *testing.T) {
	for name, others := range map[string][]string{"another cell": {"quiet"}, "two cells": {"quiet", "calm"}, "the hub itself": {""}} {
		t.Run(name, func(t *testing.T) {
			r := newRepairs(t)
			const seconds, faults = 60, 10
			for second := range seconds {
				for i := range 200 {
					r.try("broken", fmt.Sprintf("%d-%d", second, i))
				}
				for _, other := range others {
					// A repaired object pauses, so each fault counts once in this time.
					for i := range faults {
						r.try(other, fmt.Sprintf("%d-%d", second/16, i))
					}
				}
				r.clock.SetTime(r.clock.Now().Add(time.Second))
			}
			total := 0
			for _, done := range r.done {
				total += done
			}
			for _, other := range others {
				if want := seconds*perSecond/(len(others)+1) - 2; r.done[other] < want {
					t.Errorf("cell %q got %d of %d repairs, want at least %d", other, r.done[other], total, want)
				}
			}
			if total > burst+seconds*perSecond {
				t.Errorf("%d repairs in %d seconds: all cells together exceed the budget", total, seconds)
			}
		})
	}
}

// TestOneCellUsesTheWholeBudget while no other cell needs any.
func TestOneCellUsesTheWholeBudget(t *testing.T) {
	r := newRepairs(t)
	const seconds = 60
	r.try("quiet", "once")
	r.clock.SetTime(r.clock.Now().Add(2 * time.Minute)) // longer than a share lasts
	for second := range seconds {
		for i := range 50 {
			r.try("broken", fmt.Sprintf("%d-%d", second, i))
		}
		r.clock.SetTime(r.clock.Now().Add(time.Second))
	}
	if want := burst + (seconds-1)*perSecond; r.done["broken"] < want {
		t.Errorf("%d repairs in %d seconds, want %d", r.done["broken"], seconds, want)
	}
}

// TestPausesArePerCell: a copy that one cell does not report is not repaired later for another cell.
func TestPausesArePerCell(t *testing.T) {
	r := newRepairs(t)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	for _, cell := range []string{"broken", "quiet"} {
		wait, err := r.repairer.Do(t.Context(), Repair{Reason: "ReportMissing", Object: object, Cell: cell},
			func(context.Context) error { return nil })
		if err != nil || wait != 0 {
			t.Errorf("the repair for cell %s has to wait %s, %v", cell, wait, err)
		}
	}
}
