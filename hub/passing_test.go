// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// TestAProjectDelaysNoStateOfOthers: a crowd of passing states delays the writes of its own project alone.
func TestAProjectDelaysNoStateOfOthers(t *testing.T) {
	passing := Target{Options: Options{Clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}}.passing()
	of := func(project, name string) mcreconcile.Request {
		request := mcreconcile.Request{ClusterName: multicluster.ClusterName(project)}
		request.Name = name
		return request
	}
	for n := range 100 {
		passing.Wait(of("crowded", fmt.Sprintf("web-%d", n)))
	}
	if got := passing.Wait(of("crowded", "api")); got != pace.CrowdLimit {
		t.Errorf("in the crowded project a state waits %s", got)
	}
	if got := passing.Wait(of("quiet", "api")); got != pace.Limit {
		t.Errorf("in another project a state waits %s, want %s", got, pace.Limit)
	}
}
