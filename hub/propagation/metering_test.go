// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"errors"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// metering is one answer for all projects.
type metering struct {
	metered bool
	err     error
}

// Metered returns the answer.
func (m *metering) Metered(string) (bool, error) { return m.metered, m.err }

// OnChange never calls its argument.
func (*metering) OnChange(func(string)) {}

// TestMetering: the copy of a project that needs quota has one from its first version on, and the grants in it are not
// changed.
func TestMetering(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	known := &metering{metered: true}
	f.reconciler.Metering = known
	f.mustReconcile(t, "web")
	first := read(t, f, f.copied())
	if first.Spec.Quota == nil || first.Generation != 1 || len(first.Spec.Quota.Granted) > 0 {
		t.Fatalf("version %d of the copy has quota %+v", first.Generation, first.Spec.Quota)
	}
	granted := &v1alpha.WorkloadDeploymentQuota{InstanceSize: &v1alpha.QuotaSize{VCPUs: 1}, Granted: naming.Ranges([]int{0})}
	planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) { d.Spec.Quota = granted })
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("for a grant it writes %v", writes)
	}
	wantGranted := func() {
		t.Helper()
		if got := read(t, f, f.copied()); got.Spec.Quota == nil || !slices.Equal(naming.OfRanges(got.Spec.Quota.Granted), []int{0}) ||
			*got.Spec.Quota.InstanceSize != *granted.InstanceSize ||
			got.Spec.ScaleSettings.MinReplicas != f.readOriginal(t).Spec.ScaleSettings.MinReplicas {
			t.Errorf("the copy is %+v", got.Spec)
		}
	}
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 5 })
	f.mustReconcile(t, "web")
	wantGranted()
	// An added field is removed, and the grants remain.
	planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) { d.Spec.Replicas = new(int32(9)) })
	f.mustReconcile(t, "web")
	wantGranted()
	if got := read(t, f, f.copied()); got.Spec.Replicas != nil {
		t.Errorf("replicas are %d", *got.Spec.Replicas)
	}

	known.metered = false
	f.mustReconcile(t, "web")
	if got := read(t, f, f.copied()); got.Spec.Quota != nil {
		t.Errorf("without metering the quota is %+v", got.Spec.Quota)
	}
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("then it writes %v", writes)
	}
	known.metered = true
	f.mustReconcile(t, "web")
	if got := read(t, f, f.copied()); got.Spec.Quota == nil || len(got.Spec.Quota.Granted) > 0 {
		t.Errorf("metered again, the quota is %+v", got.Spec.Quota)
	}
}

// TestMeteringIsNotKnown: no deployment reaches a cell while it is unknown whether it needs quota. The consumer's own
// quota field is ignored.
func TestMeteringIsNotKnown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	known := &metering{err: errors.New("not known")}
	f.reconciler.Metering = known
	if _, err := f.reconcile(t); err == nil || planes.Exists(t, f.Planes, f.copied()) {
		t.Errorf("it propagates: %v", err)
	}
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges([]int{0, 1})}
	})
	known.metered, known.err = true, nil
	f.mustReconcile(t, "web")
	if got := read(t, f, f.copied()).Spec.Quota; got == nil || len(got.Granted) > 0 {
		t.Errorf("the quota is %+v", got)
	}
}
