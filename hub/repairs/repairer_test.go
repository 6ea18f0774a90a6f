// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package repairs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

type repairFixture struct {
	*planes.Planes
	repairer *Repairer
	clock    *testclock.FakePassiveClock
	object   *corev1.ConfigMap
}

func newRepairFixture(t *testing.T) *repairFixture {
	t.Helper()
	f := &repairFixture{Planes: planes.New(t), clock: testclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	f.repairer = NewRepairer(f.Hub, f.clock, prometheus.NewRegistry())
	f.EnsureHubNamespace(t)
	f.object = planes.Create(t, f.Planes, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: "web"}})
	return f
}

func (f *repairFixture) fault() Repair {
	return Repair{Reason: "Forgotten", Object: f.object, Message: "for a test"}
}

func (f *repairFixture) touch(t *testing.T) time.Duration {
	t.Helper()
	wait, err := f.repairer.Touch(t.Context(), f.fault())
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func (f *repairFixture) repairedAt(t *testing.T) string {
	t.Helper()
	stored := &corev1.ConfigMap{}
	if err := f.Client.Get(t.Context(), client.ObjectKeyFromObject(f.object), stored); err != nil {
		t.Fatal(err)
	}
	return stored.Annotations[v1alpha.AnnotationRepairedAt]
}

func TestTouchAnnotates(t *testing.T) {
	f := newRepairFixture(t)
	if wait := f.touch(t); wait != 0 {
		t.Fatalf("the first touch has to wait %s", wait)
	}
	if got := f.repairedAt(t); got != "2026-01-01T00:00:00Z" {
		t.Errorf("the object was repaired at %q", got)
	}
	if f.object.Annotations[v1alpha.AnnotationRepairedAt] != "" {
		t.Error("the object of the cache was changed")
	}
	if got := testutil.ToFloat64(f.repairer.repaired.WithLabelValues("ConfigMap", "Forgotten")); got != 1 {
		t.Errorf("%v repairs are counted", got)
	}
}

func TestTouchWaits(t *testing.T) {
	f := newRepairFixture(t)
	f.touch(t)
	f.clock.SetTime(f.clock.Now().Add(5 * time.Second))
	if wait := f.touch(t); wait != 10*time.Second {
		t.Errorf("the second touch has to wait %s, want what is left of %s", wait, firstPause)
	}
	if got := f.repairedAt(t); got != "2026-01-01T00:00:00Z" {
		t.Errorf("the object was touched at %s, too early", got)
	}
	f.clock.SetTime(f.clock.Now().Add(10 * time.Second))
	if wait := f.touch(t); wait != 0 || f.repairedAt(t) != "2026-01-01T00:00:15Z" {
		t.Errorf("after the pause the touch has to wait %s, and the object was repaired at %s", wait, f.repairedAt(t))
	}
	if got := f.repairer.Attempts(f.fault()); got != 2 {
		t.Errorf("%d attempts, want 2", got)
	}
}

// TestTouchOfAnotherObject: an object that was recreated under the name is not the one with the fault.
func TestTouchOfAnotherObject(t *testing.T) {
	f := newRepairFixture(t)
	f.object.UID = "earlier"
	if _, err := f.repairer.Touch(t.Context(), f.fault()); err == nil {
		t.Error("an object with another UID was touched")
	}
	if got := f.repairedAt(t); got != "" {
		t.Errorf("the object was repaired at %s", got)
	}
}

func TestTouchOfAnObjectThatIsGone(t *testing.T) {
	f := newRepairFixture(t)
	if err := f.Client.Delete(t.Context(), f.object); err != nil {
		t.Fatal(err)
	}
	if wait := f.touch(t); wait != 0 {
		t.Errorf("the touch has to wait %s", wait)
	}
}

func TestRepairsOfAllObjectsAreBounded(t *testing.T) {
	f := newRepairFixture(t)
	repaired := 0
	repair := func(context.Context) error { repaired++; return nil }
	do := func(name string) time.Duration {
		fault := Repair{Reason: "Forgotten", Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}}
		wait, err := f.repairer.Do(t.Context(), fault, repair)
		if err != nil {
			t.Fatal(err)
		}
		return wait
	}
	for i := range burst {
		if wait := do(string(rune('a' + i))); wait != 0 {
			t.Fatalf("repair %d has to wait %s", i+1, wait)
		}
	}
	if wait := do("late"); wait != time.Second || repaired != burst {
		t.Errorf("after %d repairs at once the next has to wait %s, and %d were done", burst, wait, repaired)
	}
	f.clock.SetTime(f.clock.Now().Add(time.Second))
	if wait := do("late"); wait != 0 {
		t.Errorf("a second later it has to wait %s", wait)
	}
}

func TestARepairThatFailsIsAnAttempt(t *testing.T) {
	f := newRepairFixture(t)
	refused := errors.New("refused")
	if _, err := f.repairer.Do(t.Context(), f.fault(), func(context.Context) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("got error %v", err)
	}
	if wait := f.touch(t); wait != firstPause {
		t.Errorf("after a repair that failed the next has to wait %s, want %s", wait, firstPause)
	}
	if got := testutil.ToFloat64(f.repairer.failed.WithLabelValues("ConfigMap", "Forgotten")); got != 1 {
		t.Errorf("%v failures are counted", got)
	}
}
