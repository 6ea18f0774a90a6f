// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// named tells the cell its name, as Karmada does.
func named(d *v1alpha.WorkloadDeployment) {
	d.Annotations = map[string]string{v1alpha.AnnotationWorkNamespace: "karmada-es-dfw-1"}
}

// sendNamed sends a deployment to a cell that knows its name, with turns for cells.
func (f *fixture) sendNamed(turns []v1alpha.OverrideTurn, overrides ...func(*v1alpha.WorkloadDeployment)) {
	f.t.Helper()
	f.send(func(d *v1alpha.WorkloadDeployment) { d.Spec.Template, d.Spec.Overrides = template(), turns },
		slices.Concat(overrides, []func(*v1alpha.WorkloadDeployment){func(d *v1alpha.WorkloadDeployment) {
			d.Annotations[v1alpha.AnnotationWorkNamespace] = "karmada-es-dfw-1"
		}})...)
}

// turn is the turn of a cell for the template that an override changes.
func turn(t *testing.T, cell string, override func(*v1alpha.WorkloadDeployment)) []v1alpha.OverrideTurn {
	t.Helper()
	d := &v1alpha.WorkloadDeployment{Spec: v1alpha.WorkloadDeploymentSpec{Template: template()}}
	override(d)
	hash, err := templates.Hash(&d.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	return []v1alpha.OverrideTurn{{Cell: cell, TemplateHash: hash, AtOnce: 1}}
}

// wantWaiting reports, and compares the report: Instances that only lack an override are current for it, and
// settled until their turn.
func (f *fixture) wantWaiting(overridden string, settled bool) {
	f.t.Helper()
	f.rollUp()
	status := f.storedDeployment().Status
	if got := status.Indices[0]; got.Overridden != overridden || (got.OverriddenHash == "") != (overridden == "") {
		f.t.Errorf("reported are %+v; want %q", got, overridden)
	}
	if meta.IsStatusConditionFalse(status.Conditions, v1alpha.ConditionProgressing) != settled {
		f.t.Errorf("the conditions are %+v", status.Conditions)
	}
}

// TestAnOverrideWaitsForTheTurnOfItsCell: Instances keep what they run while an override policy alone has changed the
// template, until the hub lets the cell begin. So it is when the policy is removed.
func TestAnOverrideWaitsForTheTurnOfItsCell(t *testing.T) {
	f := newFixture(t)
	f.runsFour(named)
	fra := mirror("fra.example.com")
	turns := turn(t, "dfw-2", fra)
	for _, override := range []func(*v1alpha.WorkloadDeployment){fra, unchanged} {
		f.sendNamed(turns, override)
		f.reconcile(f.deployments(), "web")
		if got := f.replaced(); len(got) > 0 {
			t.Fatalf("%v are replaced before the turn of the cell", got)
		}
		f.wantWaiting("0-3", true)

		turns = turn(t, "dfw-1", override)
		f.sendNamed(turns, override)
		f.reconcile(f.deployments(), "web")
		if got := f.replaced(); !slices.Equal(got, []string{"web-3"}) {
			t.Fatalf("in its turn %v are replaced", got)
		}
		f.wantWaiting("0-2", false)
		for _, name := range []string{"web-3", "web-2", "web-1", "web-0"} {
			f.restarted(name)
			f.reconcile(f.deployments(), "web")
		}
		f.wantWaiting("", true)
	}
}

// TestOrderedInstancesWaitForTheTurn: one Instance after another is replaced, and none before the turn.
func TestOrderedInstancesWaitForTheTurn(t *testing.T) {
	f := newFixture(t)
	f.runsFour(named)
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
		d.Spec.ScaleSettings.InstanceManagementPolicy = v1alpha.OrderedReady
	})
	fra := mirror("fra.example.com")
	for _, test := range []struct {
		turns []v1alpha.OverrideTurn
		want  []string
	}{{nil, nil}, {turn(t, "dfw-1", mirror("wrong.example.com")), nil}, {turn(t, "dfw-1", fra), []string{"web-3"}}} {
		f.sendNamed(test.turns, fra)
		f.reconcile(f.deployments(), "web")
		if got := f.replaced(); !slices.Equal(got, test.want) {
			t.Fatalf("with turns %+v, %v are replaced", test.turns, got)
		}
	}
}

// TestABrokenInstanceDoesNotWait: a corrected override repairs an Instance that is not Ready before the turn of its cell.
func TestABrokenInstanceDoesNotWait(t *testing.T) {
	f := newFixture(t)
	f.runsFour(named)
	broken := mirror("broken.example.com")
	f.sendNamed(turn(t, "dfw-1", broken), broken)
	f.reconcile(f.deployments(), "web")
	f.remove(f.storedPod("web-3"))
	f.reconcile(f.runtime(), "web-3")

	f.sendNamed(turn(t, "dfw-1", broken), mirror("fra.example.com"))
	f.reconcile(f.deployments(), "web")
	if got := f.image("web-3") + " " + f.image("web-2"); got != "fra.example.com/app example.com/app" {
		t.Errorf("web-3 and web-2 have %s", got)
	}
}

// TestATurnIsSealed: an override policy that gives its own cell a turn is refused.
func TestATurnIsSealed(t *testing.T) {
	f := newFixture(t)
	f.runsFour(named)
	fra := mirror("fra.example.com")
	f.sendNamed(nil, fra, func(d *v1alpha.WorkloadDeployment) { d.Spec.Overrides = turn(t, "dfw-1", fra) })
	f.reconcile(f.deployments(), "web")
	if got := f.replaced(); len(got) > 0 {
		t.Errorf("%v are replaced", got)
	}
}

// TestAnEarlierHubGivesNoTurns: the cell begins by itself, as with that hub before.
func TestAnEarlierHubGivesNoTurns(t *testing.T) {
	f := newFixture(t)
	f.runsFour(named)
	f.sendNamed(nil, mirror("fra.example.com"), func(d *v1alpha.WorkloadDeployment) {
		sent := d.Annotations[v1alpha.AnnotationIntended]
		earlier := strings.Replace(sent, "overrides=,", "", 1)
		if d.Annotations[v1alpha.AnnotationIntended] = earlier; earlier == sent {
			t.Fatalf("the hub has written %s", sent)
		}
	})
	f.reconcile(f.deployments(), "web")
	if got := f.replaced(); !slices.Equal(got, []string{"web-3"}) {
		t.Errorf("%v are replaced", got)
	}
}
