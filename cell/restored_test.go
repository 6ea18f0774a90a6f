// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// generation tells the cell of which generation of the project's deployment its own is.
func generation(of int64, uid string) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		if d.Labels == nil {
			d.Labels = map[string]string{}
		}
		d.Labels[v1alpha.LabelDeploymentUID] = uid
		d.Annotations[v1alpha.AnnotationProjectGeneration] = strconv.FormatInt(of, 10)
	}
}

// sendGeneration sends a template of a generation of the project's deployment.
func (f *fixture) sendGeneration(of int64, turns []v1alpha.OverrideTurn, template func(*v1alpha.WorkloadDeployment)) {
	f.t.Helper()
	f.sendNamed(turns, generation(of, "original"), sentTemplate(f, template))
}

// sentTemplate sends another template, not as an override.
func sentTemplate(f *fixture, template func(*v1alpha.WorkloadDeployment)) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		template(d)
		addIntended(f)(d)
	}
}

// runsGeneration lets four Instances run the second template, of generation 7.
func (f *fixture) runsGeneration() {
	f.t.Helper()
	f.runsFour(named)
	f.sendGeneration(7, nil, newImage)
	for range 4 {
		f.reconcile(f.deployments(), "web")
		for _, name := range f.replaced() {
			f.restarted(name)
		}
	}
	f.wantWaiting("", true)
}

// TestARestoredBackupWaitsForTheTurn: the hub was restored from a backup, and Karmada sends the template of an earlier
// generation to all cells at once. The Instances keep what they run until the turn of the cell, and one is first.
func TestARestoredBackupWaitsForTheTurn(t *testing.T) {
	f := newFixture(t)
	f.runsGeneration()

	f.sendGeneration(5, nil, unchanged)
	f.reconcile(f.deployments(), "web")
	if got := f.replaced(); len(got) > 0 {
		t.Fatalf("%v go back before the turn of the cell", got)
	}
	first, _ := hashes(t)
	f.wantSent(first, "0-3")
	f.wantWaiting("0-3", true)

	// The project has the newest generation: nothing goes back.
	f.sendGeneration(7, nil, newImage)
	f.reconcile(f.deployments(), "web")
	if got := f.replaced(); len(got) > 0 {
		t.Fatalf("%v are replaced by what they run", got)
	}
	f.wantWaiting("", true)

	// The project was restored, too.
	f.sendGeneration(5, turn(t, "dfw-1", unchanged), unchanged)
	for _, next := range []string{"web-3", "web-2", "web-1", "web-0"} {
		f.reconcile(f.deployments(), "web")
		if got := f.replaced(); !slices.Equal(got, []string{next}) {
			t.Fatalf("in its turn %v are replaced, want %s", got, next)
		}
		f.restarted(next)
	}
	f.reconcile(f.deployments(), "web")
	f.wantWaiting("", true)

	// From here on, a change is one like any other.
	f.sendGeneration(6, nil, newImage)
	f.reconcile(f.deployments(), "web")
	if got := f.replaced(); len(got) == 0 {
		t.Error("a later generation waits")
	}
}

// TestNoBackupWasRestored: a deployment that was created again begins with generation 1, and an annotation that says no
// generation says nothing.
func TestNoBackupWasRestored(t *testing.T) {
	for name, restored := range map[string]func(*v1alpha.WorkloadDeployment){
		"another deployment": generation(1, "another"),
		"a later generation": generation(8, "original"),
		"the same one":       generation(7, "original"),
		"no generation": func(d *v1alpha.WorkloadDeployment) {
			generation(7, "original")(d)
			d.Annotations[v1alpha.AnnotationProjectGeneration] = "7 "
		},
		"none": func(d *v1alpha.WorkloadDeployment) { generation(7, "")(d) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.runsGeneration()
			f.sendNamed(nil, restored, sentTemplate(f, unchanged))
			f.reconcile(f.deployments(), "web")
			if len(f.replaced()) == 0 {
				t.Error("the template waits")
			}
		})
	}
}
