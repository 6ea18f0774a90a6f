// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// runsFour creates a deployment of which four Instances run, on nodes.
func (f *fixture) runsFour(changes ...func(*v1alpha.WorkloadDeployment)) {
	f.t.Helper()
	deployment := f.deployment(4, slices.Concat(changes, []func(*v1alpha.WorkloadDeployment){halfAtOnce, addIntended(f)})...)
	for index := range 4 {
		f.running(deployment, index)
	}
	f.onNode("node", "web-0", "web-1", "web-2", "web-3")
}

// addIntended writes what the hub has sent beside other annotations.
func addIntended(f *fixture) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		before := d.Annotations
		sent(f.t, d)
		for key, value := range before {
			if key != v1alpha.AnnotationIntended {
				d.Annotations[key] = value
			}
		}
	}
}

// TestAnOverrideBeginsWithOneInstance: an override that is added, changed or removed begins with one Instance of the
// cell, as a template does with one of the Workload. The others follow when it is Available, in batches of the rollout.
func TestAnOverrideBeginsWithOneInstance(t *testing.T) {
	f := newFixture(t)
	f.runsFour()
	for _, step := range []struct {
		overrides []func(*v1alpha.WorkloadDeployment)
		batch     *intstr.IntOrString
		then      []string
	}{
		{[]func(*v1alpha.WorkloadDeployment){mirror("fra.example.com")}, nil, []string{"web-1", "web-2"}},
		{[]func(*v1alpha.WorkloadDeployment){mirror("other.example.com")}, new(intstr.FromInt32(1)), []string{"web-2"}},
		{nil, nil, []string{"web-1", "web-2"}},
	} {
		f.send(func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Template, d.Spec.Rollout.Batch = template(), step.batch
		}, step.overrides...)
		for range 2 {
			f.reconcile(f.deployments(), "web")
			if got := f.replaced(); !slices.Equal(got, []string{"web-3"}) {
				t.Fatalf("%v are replaced at first", got)
			}
		}
		f.restarted("web-3")
		for range 2 {
			f.reconcile(f.deployments(), "web")
			if got := f.replaced(); !slices.Equal(got, step.then) {
				t.Fatalf("then %v are replaced, want %v", got, step.then)
			}
		}
		for range 4 {
			for _, name := range f.replaced() {
				f.restarted(name)
			}
			f.reconcile(f.deployments(), "web")
		}
		if got := f.replaced(); len(got) > 0 || f.image("web-0") != f.image("web-3") {
			t.Errorf("%v are still replaced, and web-0 has %s", got, f.image("web-0"))
		}
	}
}

// TestABrokenOverrideStops: an override with which no Instance becomes Available costs the cell one Instance. Its
// correction replaces that one, and then the others.
func TestABrokenOverrideStops(t *testing.T) {
	f := newFixture(t)
	f.runsFour()
	f.send(unchanged, mirror("broken.example.com"))
	f.reconcile(f.deployments(), "web")
	f.remove(f.storedPod("web-3"))
	f.reconcile(f.runtime(), "web-3")
	for range 3 {
		f.reconcile(f.deployments(), "web")
	}
	if got := f.image("web-2"); got != "example.com/app" || f.image("web-3") != "broken.example.com/app" {
		t.Fatalf("web-2 has %s", got)
	}
	f.send(func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = template() }, mirror("fra.example.com"))
	f.reconcile(f.deployments(), "web")
	f.restarted("web-3")
	f.reconcile(f.deployments(), "web")
	if got := f.image("web-3") + " " + f.image("web-2"); got != "fra.example.com/app fra.example.com/app" {
		t.Errorf("web-3 and web-2 have %s", got)
	}
}

// TestAnOverrideKeepsTheFloor: the budget of the Workload bounds the change of an override.
func TestAnOverrideKeepsTheFloor(t *testing.T) {
	for floor, want := range map[int32][]string{3: {"web-3"}, 4: nil} {
		t.Run(fmt.Sprint(floor), func(t *testing.T) {
			f := newFixture(t)
			f.runsFour(withFloor(4, floor, 1))
			f.reconcile(f.disruption(), "web")
			f.settleBudget()
			f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Overrides = turn(t, "dfw", mirror("fra.example.com"))
				addIntended(f)(d)
				mirror("fra.example.com")(d)
			})
			r, _ := f.evicting()
			f.reconcile(r, "web")
			if got := f.replaced(); !slices.Equal(got, want) {
				t.Errorf("with a floor of %d, %v are replaced", floor, got)
			}
		})
	}
}
