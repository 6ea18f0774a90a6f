// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestWhatToolsSee records each state of a WorkloadDeployment as an API server shows it. hack/tools/gitops reads the
// records with the libraries of the tools.
func TestWhatToolsSee(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := func(state string) {
		t.Helper()
		planes.Record(t, f.Planes, f.readOriginal(t), "testdata/seen/"+state+".yaml",
			strings.NewReplacer(f.city, "DFW", f.HubNamespace, "ns-shop", f.cell.Name, "dfw"))
	}
	reconciled := func(state string) {
		t.Helper()
		f.mustReconcile(t)
		record(state)
	}
	record("created")
	reconciled("starting")
	f.failsToPull(t)
	reconciled("image-not-pulled")
	f.pass(time.Hour)
	reconciled("image-not-pulled-for-long")
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-1", f.hash, metav1.ConditionTrue))
	reconciled("serving")

	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = planes.Template("registry.example/app:2") })
	record("changed")
	planes.Delete(t, f.Planes, f.original)
}

// failsToPull plays a cell whose Instances wait for an image.
func (f *fixture) failsToPull(t *testing.T) {
	t.Helper()
	f.roll(t, 2, 0)
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		*meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionAvailable) = condition(v1alpha.ConditionAvailable, metav1.ConditionFalse,
			v1alpha.ReasonImageUnavailable, "0 of 2 Instances are Available: registry.example/app:1: not found")
	})
}
