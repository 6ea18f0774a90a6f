// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestQuotaWithAFault: Instances get their quota and release it, whichever write fails.
func TestQuotaWithAFault(t *testing.T) {
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t, 0, 1)
		f.Project.Through(faults)
		f.Hub.Through(faults)
		f.allow(t, 5)
		running := []wire.Instance{{Name: "web-0"}, {Name: "web-1"}}
		granted := func(want ...int) {
			t.Helper()
			err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
				faults.Reconcile(t, func() error { return f.reconcile(t) })
				f.count(t)
				// The cells report each version of the copy.
				planes.ChangeReports(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
					d.Status.ObservedGeneration = d.Generation
					planes.SetReport(t, d, "dfw", running...)
				})
				quota := f.copied(t).Spec.Quota
				return quota != nil && slices.Equal(naming.OfRanges(quota.Granted), want) && len(f.claimed(t)) == len(want), nil
			})
			if err != nil {
				t.Fatalf("%v: granted is %+v, claims %v; want %v", err, f.copied(t).Spec.Quota, f.claimed(t), want)
			}
		}
		granted(0, 1)
		planes.Change(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Assignment, d.Spec.ScaleSettings.MinReplicas = assignment(0), 1
		})
		running = running[:1]
		granted(0)
	})
}
