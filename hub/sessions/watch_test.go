// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestGrantsOfAnotherProcess: where admission runs in another process, a session gets its URL without a sweep.
func TestGrantsOfAnotherProcess(t *testing.T) {
	f := newFixture(t, endless, func(o *Options) {
		var isWatched bool
		if o.Grants.Watched, isWatched = o.Grants.Hub.(client.WithWatch); !isWatched {
			t.Fatal("the client of the fixture does not watch")
		}
	})
	f.byAnother = true
	first, _ := f.create(t, newKey(t))
	f.await(t, first, v1alpha.ReasonSessionReady)
	// By now the watch runs, and the first sweep is over.
	begun := time.Now()
	second, _ := f.create(t, newKey(t))
	f.await(t, second, v1alpha.ReasonSessionReady)
	if took := time.Since(begun); took > sweepInterval/2 {
		t.Errorf("the session got its URL after %s", took)
	}
}
