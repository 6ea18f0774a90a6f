// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// TestState is one course of events: the clock of the Lease's holder is an hour behind and must not count.
func TestState(t *testing.T) {
	p := planes.New(t)
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	watch, flips := path.NewKarmadaWatch(p.Hub, clock), 0
	watch.Subscribe(func() { flips++ })
	check := func(what string, down bool, wantFlips int, says string) {
		t.Helper()
		watch.Poll(t.Context())
		if got := watch.State(); got.Down != down || !strings.Contains(got.Message, says) || down == got.Since.IsZero() {
			t.Errorf("%s: %+v", what, got)
		}
		if flips != wantFlips {
			t.Errorf("%s: %d changes were announced, want %d", what, flips, wantFlips)
		}
	}
	later := func(d time.Duration) { clock.SetTime(clock.Now().Add(d)) }

	if !watch.State().Pending {
		t.Error("something is known before the Lease was read")
	}
	check("without a Lease", false, 1, "")
	if watch.State().Pending {
		t.Error("it waits for a Lease that does not exist")
	}
	later(time.Hour)
	check("an hour without a Lease", false, 1, "")

	planes.Create(t, p, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: path.KarmadaLease.Namespace}})
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: path.KarmadaLease.Namespace, Name: path.KarmadaLease.Name}}
	// With all fields that the election of karmada-controller-manager writes.
	behind := metav1.NewMicroTime(clock.Now().Add(-time.Hour))
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: new("karmada-controller-manager-7d9_5d1c"), LeaseDurationSeconds: new(int32(15)), AcquireTime: &behind,
		RenewTime: &behind, LeaseTransitions: new(int32(3)),
	}
	planes.Create(t, p, lease)
	check("a Lease by another clock", false, 1, "")
	later(29 * time.Second)
	check("29 s without a renewal", false, 1, "")
	planes.Change(t, p, lease, func(l *coordinationv1.Lease) {
		l.Spec.RenewTime = &metav1.MicroTime{Time: behind.Add(29 * time.Second)}
	})
	check("a renewal", false, 1, "")
	later(20 * time.Second)
	planes.Change(t, p, lease, func(l *coordinationv1.Lease) { l.Labels = map[string]string{"by": "somebody"} })
	check("a write that renews nothing", false, 1, "")
	later(10 * time.Second)
	check("30 s without a renewal", true, 2, "has renewed Lease")
	planes.Change(t, p, lease, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("another") })
	check("another leader", false, 3, "")

	second := path.NewKarmadaWatch(p.Hub, clock)
	second.Poll(t.Context())
	if !second.State().Pending {
		t.Error("another replica takes a Lease that it has seen once to be current")
	}
	planes.Change(t, p, lease, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("a third") })
	second.Poll(t.Context())
	if second.State().Pending {
		t.Error("another replica has seen a renewal and knows nothing")
	}
	check("a third leader", false, 3, "")

	p.Hub.Before(func(planes.Call) error { return errors.New("connection refused") })
	later(20 * time.Second)
	check("20 s without an answer", false, 3, "")
	later(10 * time.Second)
	check("30 s without an answer", true, 4, "has not answered")
	p.Hub.Before(func(planes.Call) error {
		return apierrors.NewForbidden(coordinationv1.Resource("leases"), lease.Name, errors.New("no"))
	})
	check("it may not be read", false, 5, "")
	later(time.Hour)
	check("it may not be read for long", false, 5, "")
}

// TestStateBetweenPolls: a caller that learns between two polls that none is running is notified when the next poll
// finds one.
func TestStateBetweenPolls(t *testing.T) {
	p := planes.New(t)
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	watch, heard := path.NewKarmadaWatch(p.Hub, clock), 0
	answers := func(planes.Call) error {
		return apierrors.NewForbidden(coordinationv1.Resource("leases"), path.KarmadaLease.Name, errors.New("no"))
	}
	p.Hub.Before(answers)
	watch.Poll(t.Context())
	watch.Subscribe(func() { heard++ })
	p.Hub.Before(func(planes.Call) error { return errors.New("connection refused") })
	clock.SetTime(clock.Now().Add(25 * time.Second))
	watch.Poll(t.Context())
	if watch.State().Down || heard != 0 {
		t.Fatalf("%+v after 25 s, announced %d times", watch.State(), heard)
	}
	clock.SetTime(clock.Now().Add(9 * time.Second))
	if !watch.State().Down {
		t.Fatal("one is at work 34 s after the last answer")
	}
	p.Hub.Before(answers)
	watch.Poll(t.Context())
	if watch.State().Down || heard != 1 {
		t.Errorf("%+v with an answer, announced %d times", watch.State(), heard)
	}
}

// renewing plays a Lease: each read of it finds a renewal, unless it is held.
type renewing struct {
	client.Reader
	holder  string
	held    bool
	renewed int64
}

func (l *renewing) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	if !l.held {
		l.renewed++
	}
	object.(*coordinationv1.Lease).Spec = coordinationv1.LeaseSpec{
		HolderIdentity: new(l.holder), RenewTime: new(metav1.NewMicroTime(time.Unix(l.renewed, 0))),
	}
	return nil
}

// TestUnsettled: the report of a karmada-controller-manager about cells settles a minute after it has begun.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	lease := &renewing{holder: "first"}
	watch := path.NewKarmadaWatch(lease, clock)
	for number, test := range []struct {
		after  time.Duration
		holder string
		held   bool
		want   time.Duration
	}{
		{0, "first", false, 0},
		{10 * time.Second, "first", false, 0},
		{15 * time.Second, "first", true, 0},
		{time.Second, "first", true, time.Minute},
		{10 * time.Second, "first", false, time.Minute},
		{10 * time.Second, "first", false, 50 * time.Second},
		{10 * time.Second, "second", false, time.Minute},
		{15 * time.Second, "second", false, 45 * time.Second},
		{15 * time.Second, "second", false, 30 * time.Second},
		{15 * time.Second, "second", false, 15 * time.Second},
		{15 * time.Second, "second", false, 0},
	} {
		clock.SetTime(clock.Now().Add(test.after))
		lease.holder, lease.held = test.holder, test.held
		watch.Poll(t.Context())
		if got := watch.State().MayReachFor; got != test.want {
			t.Errorf("poll %d: %s, want %s", number, got, test.want)
		}
	}
}
