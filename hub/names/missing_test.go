// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/names/probe"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/nameserver"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// asking is a replica that asks a resolver, in the time of a clock.
type asking struct {
	*fixture
	clock *testingclock.FakeClock
	queue queue
}

// asks starts such a replica in the place of the one before.
func (f *fixture) asks(t *testing.T, resolver string) *asking {
	t.Helper()
	a := &asking{fixture: f, clock: testingclock.NewFakeClock(f.reconciler.Clock.Now())}
	a.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	t.Cleanup(a.queue.ShutDown)
	prober := probe.New(probe.Options{Resolver: resolver, Clock: a.clock})
	f.reconciler.Prober, f.reconciler.Clock = prober, a.clock
	source, _, err := prober.ForCluster(planes.ProjectName, nil)
	if err == nil {
		err = source.Start(t.Context(), a.queue)
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- prober.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	f.reconcile(t, "web")
	return a
}

// await lets minutes pass until the answer of the resolver changes.
func (a *asking) await(t *testing.T) {
	t.Helper()
	changes := func(context.Context) (bool, error) {
		a.clock.Step(10 * time.Second)
		return a.queue.Len() > 0, nil
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, changes); err != nil {
		t.Fatal("the answer does not change: ", err)
	}
	request, _ := a.queue.Get()
	a.queue.Done(request)
}

// TestTheZoneLacksARecord: it is reported after the TTL and some minutes, also by a replica that starts, and for as long as a resolver does
// not answer. It ends when the zone has the record, or when no resolver is named. The name has its addresses all the time.
func TestTheZoneLacksARecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconciler.Rules = naming.Hostnames{Pattern: "{workload}-{namespace}.example.com"}
	zone, name := nameserver.Start(t, "*  A  198.51.100.9"), "web-"+f.Namespace.Name+".example.com"
	f.serve(t, f.workload(t, "web"), "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	first := f.asks(t, zone.Address)
	first.await(t)
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, name)
	after := 20*time.Second + reasons.ReadAfter
	if f.again <= 0 || f.again > after {
		t.Errorf("it is looked at again after %s, want at most %s", f.again, after)
	}
	first.clock.Step(after)
	f.reconcile(t, "web")
	settled := func() {
		t.Helper()
		if writes := f.reconcile(t, "web"); len(writes) > 0 {
			t.Errorf("it does not settle: %v", writes)
		}
		f.wantAnswer(t, name, "A 203.0.113.7")
		got := f.wantCondition(t, "web", v1alpha.ReasonRecordMissing, name)
		if !strings.Contains(got.Message, "without any address of its DNSEndpoint since 2026-01-01T00:0") {
			t.Errorf("the message is %q", got.Message)
		}
	}
	settled()
	f.see(t, name, 0)
	if got := f.reconciler.Records.Unread(); got != 1 {
		t.Errorf("%d are missing, want 1", got)
	}

	silent := f.asks(t, testenv.FreeAddress(t))
	settled()
	silent.clock.Step(time.Hour)
	settled()

	second := f.asks(t, zone.Address)
	settled()
	zone.Write(t, name+". A 203.0.113.7")
	second.await(t)
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, name)
	f.see(t, name, 0)
	if got := f.reconciler.Records.Unread(); got != 0 || missingOf(f.record(t, name)) != "" {
		t.Errorf("%d are missing, and the DNSEndpoint has %q", got, missingOf(f.record(t, name)))
	}

	f.marks(t, name)
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonRecordMissing, name)
	f.reconciler.Prober = nil
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, name)
}

// marks gives a name the state that a replica stores which has found its record missing, and asks again from there.
func (f *fixture) marks(t *testing.T, name string) {
	t.Helper()
	record := f.record(t, name)
	annotations := record.GetAnnotations()
	annotations[v1alpha.AnnotationNameMissing] = "2026-01-01T00:00:00Z"
	record.SetAnnotations(annotations)
	if err := f.Client.Update(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	f.reconciler.Prober = probe.New(probe.Options{Resolver: "192.0.2.1:53", Clock: testingclock.NewFakeClock(testBegin)})
}

// TestAMissingRecordWithoutACity: the state is stored, too, while no city serves and the answer does not change.
func TestAMissingRecordWithoutACity(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	name := f.byPattern("web")
	f.serve(t, w, "DFW", "")
	f.reconcile(t, "web")
	f.marks(t, name)
	f.reconcile(t, "web")
	if got := missingOf(f.record(t, name)); got == "" {
		t.Error("a replica that starts forgets it")
	}
	f.reconciler.Prober = nil
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonNoCityServes, name)
	if got := missingOf(f.record(t, name)); got != "" {
		t.Errorf("it stays missing since %s", got)
	}
	f.wantAnswer(t, name, "A 203.0.113.7")
}
