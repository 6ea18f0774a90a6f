// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestNewGrants: a session whose grant any process records gets its URL without a sweep.
func TestNewGrants(t *testing.T) {
	f := newFixture(t, endless)
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
