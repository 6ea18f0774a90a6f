// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"strconv"
	"testing"

	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// TestAwaitedFinalizersAreBounded: no event follows for Workloads of projects that another replica got, so that they
// are never said to have arrived.
func TestAwaitedFinalizersAreBounded(t *testing.T) {
	t.Parallel()
	request := func(n int) mcreconcile.Request {
		r := mcreconcile.Request{ClusterName: "north"}
		r.Namespace, r.Name = "default", "web-"+strconv.Itoa(n)
		return r
	}
	var written writtenFinalizers
	if written.awaited(request(0), "1") {
		t.Error("it awaits a finalizer that was not written")
	}
	written.arrived(request(0))
	for n := range maxAwaited + 1 {
		written.wrote(request(n), "1")
	}
	if count := written.before.Len(); count != maxAwaited {
		t.Errorf("it remembers %d Workloads, want %d", count, maxAwaited)
	}
	last := request(maxAwaited)
	for version, want := range map[string]bool{"1": true, "2": false, "": false} {
		if written.awaited(last, version) != want {
			t.Errorf("version %q of the last one is awaited: %t, want %t", version, !want, want)
		}
	}
	if written.awaited(request(0), "1") {
		t.Error("the first one is still awaited")
	}
	if written.arrived(last); written.awaited(last, "1") || written.before.Len() != maxAwaited-1 {
		t.Errorf("a Workload whose finalizer has arrived is remembered, among %d", written.before.Len())
	}
}
