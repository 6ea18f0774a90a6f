// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/milo/quota"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// run plays the cell, which reports that these Instances run the present template.
func (f *fixture) run(t *testing.T, names ...string) {
	t.Helper()
	copied := f.copied(t)
	version, err := templates.VersionOf(&copied.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	var instances []wire.Instance
	for _, name := range names {
		instances = append(instances, wire.Instance{Name: name, TemplateHash: version.Hash, ObservedTemplateHash: version.Hash})
	}
	planes.ChangeReports(t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) {
		d.Status.ObservedGeneration = d.Generation
		planes.SetReport(t, d, "dfw", instances...)
	})
}

// TestSilence: while the Work of a cell has no report, its Instances keep their claims and grants.
func TestSilence(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*testing.T, *fixture)
		// want are the granted indices.
		want []int
	}{
		"the template shrinks": {func(t *testing.T, f *fixture) {
			t.Helper()
			planes.Change(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Template.Spec.Runtime.Resources.Requests["cpu"] = *asQuantity("500m")
			})
		}, []int{0, 1}},
		"a lower Instance lacks quota": {func(t *testing.T, f *fixture) {
			t.Helper()
			f.allow(t, 1)
			planes.Delete(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, "instance-web-0", &quota.ResourceClaim{}))
		}, []int{1}},
		"an autoscaler has created it": {func(t *testing.T, f *fixture) {
			t.Helper()
			planes.Change(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Assignment.Cells[0].MinReplicas = new(int32(1))
				d.Spec.Template.Spec.Runtime.Resources.Requests["cpu"] = *asQuantity("500m")
			})
		}, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 0, 1)
			f.allow(t, 2)
			f.becomes(t, []int{0, 1}, "", nil)
			f.run(t, "web-0", "web-1")
			before := planes.Get(t, f.Planes, f.Namespace.Name, "instance-web-1", &quota.ResourceClaim{}).UID
			f.Deliver(t, f.copied(t), map[string]*v1alpha.WorkloadDeploymentStatus{"dfw": nil})
			test.change(t, f)
			withheld := []int{0}
			if len(test.want) == 2 {
				withheld = nil
			}
			f.becomes(t, test.want, v1alpha.ReasonQuotaExceeded, withheld)
			if claim := planes.Get(t, f.Planes, f.Namespace.Name, "instance-web-1", &quota.ResourceClaim{}); claim.UID != before {
				t.Error("the claim of a running Instance is deleted")
			}
			f.run(t, "web-0", "web-1")
			f.becomes(t, test.want, v1alpha.ReasonQuotaExceeded, withheld)
		})
	}
}

// TestRefusalOfAKind: Milo misses a kind only where it does not serve it.
func TestRefusalOfAKind(t *testing.T) {
	t.Parallel()
	s := &scope{deployment: &v1alpha.WorkloadDeployment{}}
	s.deployment.Namespace = "default"
	claims := schema.GroupResource{Group: "quota.miloapis.com", Resource: "resourceclaims"}
	for want, err := range map[string]error{
		v1alpha.ReasonQuotaMisconfigured: testenv.NotServed("instance-web-0"), unanswered.reason: apierrors.NewNotFound(claims, "instance-web-0"),
	} {
		if got := s.refusal(t.Context(), err); got.reason != want {
			t.Errorf("%v: %+v, want %s", err, got, want)
		}
	}
}
