// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestIgnored: entries that are not shown are counted for the cell that reports them; entries for another cell are not.
func TestIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.report(t, f.instances(t, 0)...)
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Status.Reports[0].Instances = append(d.Status.Reports[0].Instances,
			v1alpha.InstanceEntry{Index: 0}, v1alpha.InstanceEntry{Index: 9000}, v1alpha.InstanceEntry{Index: 9001})
	})
	f.mustReconcile(t)
	cell := f.copied.Status.Reports[0].Cell
	for cause, want := range map[wire.IgnoredCause]float64{
		wire.IgnoredOwner: 0, wire.IgnoredTwice: 1, wire.IgnoredIndex: 2, wire.IgnoredState: 0,
	} {
		if got := testutil.ToFloat64(f.reconciler.Ignored.entries.WithLabelValues(cell, string(cause))); got != want {
			t.Errorf("%s of %s: %v, want %v", cause, cell, got, want)
		}
	}
	if got := testutil.CollectAndCount(f.reconciler.Ignored.entries); got != len(wire.IgnoredCauses) {
		t.Errorf("there are %d series", got)
	}
}
