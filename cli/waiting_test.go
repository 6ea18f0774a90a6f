// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestListWaiting: the queue has what waits for a cell or for a node, the longest wait first, and nothing else.
func TestListWaiting(t *testing.T) {
	f := newFixture(t)
	f.want(f.kubectl(f.Config(), "list", "--waiting"), 0, "No Instance waits for capacity.")

	since := func(ago time.Duration, kind, reason string) metav1.Condition {
		condition := is(kind, metav1.ConditionFalse, reason, "0/2 clusters are available")
		condition.LastTransitionTime = metav1.NewTime(now.Add(-ago))
		return condition
	}
	w := f.workload(placement("texas", 2, "DFW"), placement("illinois", 3, "ORD"))
	dallas := f.deployment(w, "texas", "DFW", 2)
	f.instance(dallas, 0, ready)
	f.instance(dallas, 1, since(7*time.Minute, v1alpha.ConditionReady, v1alpha.ReasonUnschedulable))
	chicago := f.deployment(w, "illinois", "ORD", 3)
	chicago.Status.AssignedReplicas = 1
	chicago.Status.Conditions = append(chicago.Status.Conditions, since(9*time.Minute, v1alpha.ConditionScheduled, v1alpha.ReasonNoCapacity))
	f.update(chicago)

	listed := f.kubectl(f.Config(), "list", "--waiting")
	f.want(listed, 0)
	if got, want := strings.TrimSpace(table(listed.out)), strings.Join([]string{
		"WORKLOAD CITY INSTANCES REASON WAITS NEXT TRY",
		"web ORD 2 NoCapacity 9m a cell has more room, or 17m",
		"web DFW 1 Unschedulable 7m waits for a node",
	}, "\n"); got != want {
		t.Errorf("it lists\n%s\nwant\n%s", got, want)
	}
	f.want(f.kubectl(f.Config(), "list", "--waiting", "-A"), 0, "NAMESPACE", f.Namespace.Name)
	f.want(f.kubectl(f.Config(), "list", "--waiting", "-o", "json"), 0, `"kind": "WaitingList"`, `"instances": 2`, `"message": "0/2 clusters`)
	f.want(f.kubectl(f.Config(), "list", "--waiting", "-l", "team=web"), 0, "No Instance waits")
	f.want(f.kubectl(f.Config(), "list", "--waiting", "-w"), 1, "leave out --watch")
	f.want(f.kubectl(f.user(may(read, "workloads", "workloaddeployments")), "list", "--waiting"), 1, "forbidden")
}
