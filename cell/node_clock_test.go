// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestANodeWithAnotherClock: an Instance is Available when the agent has seen its Pod ready for minReadySeconds, whatever the
// clock of its node says, also across a restart of the agent, and a condition and an Event name the clock.
func TestANodeWithAnotherClock(t *testing.T) {
	for name, test := range map[string]struct {
		off  time.Duration
		want string
	}{
		"ahead": {10 * time.Minute, "10m0s ahead"}, "behind": {-10 * time.Minute, "behind"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			deployment := f.deployment(1, func(d *v1alpha.WorkloadDeployment) { d.Spec.MinReadySeconds = new(int32(30)) })
			f.setPod(f.pod(f.instance(deployment, 0)), readyAt(now.Add(test.off)))
			available := func() string {
				t.Helper()
				f.reconcile(f.runtime(), "web-0")
				found := meta.FindStatusCondition(f.storedInstance("web-0").Status.Conditions, v1alpha.ConditionAvailable)
				if !strings.Contains(found.Message, test.want) || test.want == "" && strings.Contains(found.Message, "clock") {
					t.Errorf("Available is %+v, want %q", found, test.want)
				}
				return string(found.Status)
			}
			for _, step := range []struct {
				after time.Duration
				want  string
			}{{0, "False"}, {29 * time.Second, "False"}, {30 * time.Second, "True"}, {10*time.Minute + time.Second, "True"}, {time.Hour, "True"}} {
				f.clock.SetTime(now.Add(step.after))
				if got := available(); got != step.want {
					t.Errorf("after %s Available is %s", step.after, got)
				}
			}
			if test.want != "" {
				f.wantEvent("Warning NodeClockOff the clock of node")
			}
			select {
			case again := <-f.recorder.Events:
				t.Errorf("another Event: %s", again)
			default:
			}
		})
	}
}
