// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// overriding plays cells in which an override policy has changed the template to the one with a hash. broken: the first
// Instance with it does not become Available.
func (c *cell) overriding(hash string, broken bool) {
	c.Tells = func(d *v1alpha.WorkloadDeployment) {
		of := &d.Status.Indices[0]
		for _, turn := range d.Spec.Overrides {
			if turn.TemplateHash != hash {
				continue
			}
			if broken {
				of.Overridden, of.OverriddenHash, of.AvailableIndices, d.Status.AvailableReplicas = "0", hash, "0", 1
			}
			return
		}
		of.Overridden, of.OverriddenHash = "0-1", hash
	}
}

// turns returns the hashes of the turns of the cities, such as "DFW a ORD -".
func (f *fixture) turns(t *testing.T) string {
	t.Helper()
	var cities []string
	for _, name := range []string{"web-main-dfw", "web-main-ord"} {
		d, hash := f.readDeployment(t, name), "-"
		for _, turn := range d.Spec.Overrides {
			hash = turn.TemplateHash
			if turn.Cell != strings.ToLower(d.Spec.CityCode) || turn.AtOnce != 1 || len(d.Spec.Overrides) != 1 {
				t.Errorf("%s has turns %+v", name, d.Spec.Overrides)
			}
		}
		cities = append(cities, d.Spec.CityCode+" "+hash)
	}
	return strings.Join(cities, " ")
}

// TestOverridesGoFromCityToCity: a changed override policy waits in each city for its turn, and the rollout stays
// complete. A broken override stops in the first city, and its correction continues.
func TestOverridesGoFromCityToCity(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	c.overriding("mirror", false)
	c.settle(t)
	if got := f.turns(t); got != "DFW mirror ORD mirror" || f.phase(t) != v1alpha.RolloutComplete {
		t.Fatalf("the turns are %s, and the rollout is %s", got, f.phase(t))
	}

	c.overriding("broken", true)
	c.settle(t)
	progressing := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionProgressing)
	if got := f.turns(t); got != "DFW broken ORD mirror" || f.phase(t) != v1alpha.RolloutComplete {
		t.Fatalf("the turns are %s, and the rollout is %s", got, f.phase(t))
	}
	waits := "ORD: an override policy has changed the template in cell ord"
	if progressing.Status != metav1.ConditionTrue || !strings.Contains(progressing.Message, waits) {
		t.Errorf("the condition is %+v", progressing)
	}
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Rollout = &v1alpha.WorkloadRollout{Paused: true} })
	c.overriding("corrected", false)
	c.settle(t)
	if got := f.turns(t); got != "DFW broken ORD mirror" {
		t.Errorf("paused, the turns are %s", got)
	}
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Rollout = nil })
	c.settle(t)
	if got := f.turns(t); got != "DFW corrected ORD corrected" {
		t.Errorf("corrected, the turns are %s", got)
	}

	// A new template keeps the turns, and so does a city that is removed and added.
	c.Tells = nil
	f.image(t, "registry.example/app:2")
	c.settle(t)
	if got := f.turns(t); got != "DFW corrected ORD corrected" || c.state(t) != "DFW 2/2 ORD 2/2" {
		t.Errorf("with a new template, the turns are %s, and the cities are at %s", got, c.state(t))
	}
}

// TestARestoredBackupGoesFromCityToCity: cells that have received an earlier template of the Workload, from a backup, get
// their turns one after the other, as for an override. The words name the backup.
func TestARestoredBackupGoesFromCityToCity(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	restored := f.readWorkload(t).Status.Rollout.CompleteTemplateHash
	if restored == "" {
		t.Fatal("the rollout is not complete")
	}
	c.overriding(restored, true)
	c.settle(t)
	if got := f.turns(t); got != "DFW "+restored+" ORD -" || f.phase(t) != v1alpha.RolloutComplete {
		t.Fatalf("the turns are %s, and the rollout is %s", got, f.phase(t))
	}
	progressing := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionProgressing)
	if !strings.Contains(progressing.Message, "ORD: a removed override policy or a restored backup has changed the template in cell ord") {
		t.Errorf("the condition is %+v", progressing)
	}
	c.overriding(restored, false)
	c.settle(t)
	if got := f.turns(t); got != "DFW "+restored+" ORD "+restored {
		t.Errorf("the turns are %s", got)
	}
}
