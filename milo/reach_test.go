// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/milo/shards"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestReach: the first answer, or its absence, counts at once; a change counts when it has lasted.
func TestReach(t *testing.T) {
	planes, address := newControlPlanes(t)
	root, err := newRootClient(&rest.Config{Host: address})
	if err != nil {
		t.Fatal(err)
	}
	for name, startsAway := range map[string]bool{"Milo is there": false, "Milo is away": true} {
		fake := testingclock.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		r := &reach{root: root, clock: fake, after: 15 * time.Second}
		expect := func(when string, want shards.Reach) {
			t.Helper()
			if got := r.state(); got != want {
				t.Errorf("%s at the start, %s: %d, want %d", name, when, got, want)
			}
		}
		ask := func(away bool) {
			planes.set(func() { planes.away = away })
			r.ask(t.Context())
		}
		first, second := shards.Reached, shards.Unreached
		if startsAway {
			first, second = second, first
		}
		expect("before a question", shards.Doubtful)
		ask(startsAway)
		expect("after the first question", first)
		ask(!startsAway)
		expect("when that changes", shards.Doubtful)
		fake.Step(14 * time.Second)
		ask(!startsAway)
		expect("14 s later", shards.Doubtful)
		fake.Step(time.Second)
		expect("15 s later", second)
		ask(startsAway)
		expect("when it changes back", shards.Doubtful)
		fake.Step(14 * time.Second)
		ask(!startsAway)
		fake.Step(14 * time.Second)
		expect("when it goes on changing", shards.Doubtful)
	}
}

// TestCutOffFromMilo: one of two replicas loses its connection to Milo. The other replica takes all shards, so that no
// project stalls, and they share the shards again when the connection recovers.
func TestCutOffFromMilo(t *testing.T) {
	namespace := hubNamespace(t)
	way := testenv.NewProxy(t, testenv.Config(t))
	const lease = 5 * time.Second
	one, two := startProcessWith(t, namespace, "one", lease, way.Config(testenv.Config(t))), startProcess(t, namespace, "two", lease)
	both := map[string]*process{"one": one, "two": two}
	divided(t, namespace, both)
	eventually(t, "its Lease says that Milo answers it", func() bool { return says(t, namespace, "one") == "Reached" })
	way.Cut()
	divided(t, namespace, map[string]*process{"two": two})
	if owned := one.owns(); len(owned) > 0 {
		t.Errorf("who is cut off has %v", owned)
	}
	eventually(t, "its Lease says that it is cut off", func() bool { return says(t, namespace, "one") == "CutOff" })
	registry := prometheus.NewRegistry()
	one.provider.RegisterMetrics(registry)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP karmada_compute_milo_cut_off 1 while Milo or, with --projects=namespaces, the hub answers another replica but not this replica, which has released its shards to the others, else 0.
# TYPE karmada_compute_milo_cut_off gauge
karmada_compute_milo_cut_off 1
`), "karmada_compute_milo_cut_off"); err != nil {
		t.Error(err)
	}
	way.Restore(t)
	divided(t, namespace, both)
}

// says returns the state of the connection to Milo in the Lease of a replica.
func says(t *testing.T, namespace, replica string) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	if err := newHubClient(t).Get(t.Context(), client.ObjectKey{
		Namespace: namespace, Name: "karmada-compute-replica-" + replica,
	}, lease); err != nil {
		t.Fatal(err)
	}
	return lease.Annotations["compute.datumapis.com/milo"]
}
