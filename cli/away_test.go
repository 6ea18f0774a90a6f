// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestWhileTheAPIServerIsAway: a command that follows a Workload reports an outage of the API server, waits, and continues.
func TestWhileTheAPIServerIsAway(t *testing.T) {
	tests := map[string]struct {
		args []string
		// shown is the output about a number of ready Instances.
		shown string
	}{
		"list":           {args: []string{"list", "-w"}, shown: "%d/2"},
		"rollout status": {args: []string{"rollout", "status", "web"}, shown: ", %d of them are Available"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			w := f.workload()
			report := func(ready int32) {
				w.Status.ReadyReplicas, w.Status.DesiredReplicas, w.Status.UpdatedAvailableReplicas = ready, 2, ready
				w.Status.ObservedGeneration = w.Generation
				w.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Phase: v1alpha.RolloutProgressing}
				f.update(w)
			}
			report(0)
			config, away := f.behindProxy()
			ctx, stop := context.WithCancel(f.Context())
			out, ended := &buffer{}, make(chan result, 1)
			go func() { ended <- f.call(call{config: config, ctx: ctx, out: out, errOut: out}, test.args...) }()
			shows := func(ready int) { t.Helper(); f.eventually(out, fmt.Sprintf(test.shown, ready)) }
			shows(0)
			report(1)
			shows(1)

			away(true)
			f.eventually(out, "! not updated since")
			report(2)
			away(false)
			shows(2)
			f.eventually(out, "followed again")
			stop()
			if r := <-ended; r.code != exitInterrupted {
				t.Errorf("code %d, printed\n%s", r.code, r.out)
			}
		})
	}
}

// TestRolloutStatusWithoutWatch: a user who may read a Workload, and list or watch nothing, follows its rollout.
func TestRolloutStatusWithoutWatch(t *testing.T) {
	for name, verbs := range map[string][]string{"get": {"get"}, "get and list": {"get", "list"}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			w := f.workload()
			report := func(ready int32, phase v1alpha.RolloutPhase) {
				w.Status.DesiredReplicas, w.Status.UpdatedAvailableReplicas = 2, ready
				w.Status.ObservedGeneration, w.Status.Rollout = w.Generation, &v1alpha.WorkloadRolloutStatus{Phase: phase}
				f.update(w)
			}
			report(1, v1alpha.RolloutProgressing)
			config := f.user(rbacv1.PolicyRule{APIGroups: []string{v1alpha.GroupVersion.Group}, Resources: []string{"workloads"}, Verbs: verbs})
			out, ended := &buffer{}, make(chan result, 1)
			go func() { ended <- f.call(call{config: config, out: out}, "rollout", "status", "web") }()
			f.eventually(out, ", 1 of them are Available")
			report(2, v1alpha.RolloutComplete)
			f.eventually(out, "successfully rolled out")
			f.want(<-ended, 0)
		})
	}
}
