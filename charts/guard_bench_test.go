// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// priced are writes to the hub that the policies of the guard review, by the name of the metric.
var priced = map[string]intrusion{
	"copy":      legitimate["deploy in a hub namespace"],
	"work":      legitimate["send a Work for Karmada"],
	"binding":   legitimate["end the claim of a policy"],
	"namespace": legitimate["create a namespace"],
	"configmap": legitimate["write a ConfigMap"],
	"lease":     legitimate["write a Lease of its own"],
	"policy":    legitimate["propagate from another namespace"],
}

// BenchmarkGuard measures what the guard adds to a write, as a ratio to the floor: the same write without the policies, in
// turn with it. The writes are dry runs: real writes, which wait for etcd, have lower ratios.
func BenchmarkGuard(b *testing.B) {
	admin := clientOf(b, "")
	setUpGuarded(b, admin)
	floors, guarded := map[string][]time.Duration{}, map[string][]time.Duration{}
	for b.Loop() {
		removeGuards(b, admin)
		timeWrites(b, floors)
		applyGuards(b, admin)
		timeWrites(b, guarded)
	}
	for name := range priced {
		b.ReportMetric(float64(median(guarded[name]))/float64(median(floors[name])), name+"-x-floor")
	}
	b.ReportMetric(0, "ns/op") // the rounds have no length of interest
}

// timeWrites sends each write 200 times, in turn with the others.
func timeWrites(b *testing.B, taken map[string][]time.Duration) {
	b.Helper()
	clients := map[string]client.Client{}
	for name, write := range priced {
		clients[name] = unprivileged(b, write.by, memberships[write.by]...)
	}
	for range 200 {
		for _, name := range slices.Sorted(maps.Keys(priced)) {
			begun := time.Now()
			if err := priced[name].try(b.Context(), clients[name]); err != nil {
				b.Fatalf("%s: %v", name, err)
			}
			taken[name] = append(taken[name], time.Since(begun))
		}
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
