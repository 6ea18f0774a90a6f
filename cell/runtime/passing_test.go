// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// TestAProjectDelaysNoOther: a crowd of starting Instances delays the writes of its own project alone.
func TestAProjectDelaysNoOther(t *testing.T) {
	passing := NewPassing(clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	for n := range 100 {
		passing.Wait(types.NamespacedName{Namespace: "ns-crowded", Name: fmt.Sprintf("web-%d", n)})
	}
	if got := passing.Wait(types.NamespacedName{Namespace: "ns-crowded", Name: "api-0"}); got != pace.CrowdLimit {
		t.Errorf("in the crowded project an Instance waits %s", got)
	}
	if got := passing.Wait(types.NamespacedName{Namespace: "ns-quiet", Name: "api-0"}); got != pace.Limit {
		t.Errorf("in another project an Instance waits %s, want %s", got, pace.Limit)
	}
}
