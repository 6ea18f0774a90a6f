// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// allCities are the cities of a test in which cities come and go.
const allCities = "DFW ORD SEA"

// leaving is a Workload whose cities are removed, withdrawn, lost, added and scaled in any order, between templates that
// fail, undos and pauses.
type leaving struct {
	*fixture
	*rand.Rand
	cell *cell
	// versions counts templates. broken: the written one fails.
	versions int
	broken   bool
	moves    []string
	// silence is a mistake: a city without contact is one whose template fails.
	silence bool
}

func newLeaving(t *testing.T, seed uint64) *leaving {
	t.Helper()
	f := newFixture(t, allCities)
	f.requeues = true
	l := &leaving{fixture: f, Rand: rand.New(rand.NewPCG(seed, 7)), cell: f.cell(), versions: 1}
	l.cell.Tells = l.tell
	f.workload(t, "main DFW ORD")
	f.rolls(t, func(r *v1alpha.WorkloadRollout) {
		if l.IntN(2) == 0 {
			r.OnFailure = v1alpha.RolloutUndo
		}
	})
	l.settle(t)
	return l
}

// tell adds the progress of a city: its deadline has passed when it is not Available.
func (l *leaving) tell(d *v1alpha.WorkloadDeployment) {
	progressing := metav1.Condition{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonSettled}
	if d.Status.AvailableReplicas < d.Status.AssignedReplicas {
		progressing.Reason, progressing.Message = v1alpha.ReasonProgressDeadlineExceeded, d.Spec.CityCode+": an Instance does not start"
	}
	meta.SetStatusCondition(&d.Status.Conditions, progressing)
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
		Type: v1alpha.ConditionStatusCurrent, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonReported,
	})
}

// lose cuts off a city, whose deadline then passes; "": all have contact again.
func (l *leaving) lose(t *testing.T, city string) {
	t.Helper()
	l.cell.Lost = city
	for name := range strings.FieldsSeq(l.names(t)) {
		changeStatus(t, l.fixture, l.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
			if d.Spec.CityCode != city {
				return
			}
			if !l.silence {
				meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
					Type: v1alpha.ConditionStatusCurrent, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonCellNotReady,
				})
			}
			meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
				Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProgressDeadlineExceeded,
				Message: city + ": its cell has no contact",
			})
		})
	}
}

// some returns some of the cities, and at least one.
func (l *leaving) some() []string {
	var chosen []string
	for city := range strings.FieldsSeq(allCities) {
		if l.IntN(2) == 0 {
			chosen = append(chosen, city)
		}
	}
	if len(chosen) == 0 {
		return []string{"DFW"}
	}
	return chosen
}

// move changes one thing.
func (l *leaving) move(t *testing.T) {
	t.Helper()
	note := func(what string, of any) { l.moves = append(l.moves, fmt.Sprintf("%s %v", what, of)) }
	place := func(mutate func(*v1alpha.WorkloadPlacement)) {
		change(t, l.fixture, l.readWorkload(t), func(w *v1alpha.Workload) { mutate(&w.Spec.Placements[0]) })
	}
	switch l.IntN(8) {
	case 0, 1:
		cities := l.some()
		place(func(p *v1alpha.WorkloadPlacement) { p.CityCodes = cities })
		note("cities", cities)
	case 2:
		l.locations.cities = strings.Join(l.some(), " ")
		note("locations", l.locations.cities)
	case 3:
		count := 1 + l.IntN(3)
		place(func(p *v1alpha.WorkloadPlacement) { p.ScaleSettings.MinReplicas = int32(count) })
		note("replicas", count)
	case 4:
		l.write(t, l.IntN(2) == 0)
		note("template", l.readWorkload(t).Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image)
	case 5:
		l.image(t, "registry.example/app:1")
		l.broken = false
		note("back to", 1)
	case 6:
		paused := l.IntN(2) == 0
		l.rolls(t, func(r *v1alpha.WorkloadRollout) { r.Paused = paused })
		note("paused", paused)
	default:
		city := ""
		if l.IntN(2) == 0 {
			city = l.some()[0]
		}
		l.lose(t, city)
		note("lost", city)
	}
}

// write writes another template, whose Instances start or do not.
func (l *leaving) write(t *testing.T, broken bool) {
	t.Helper()
	l.versions++
	l.image(t, fmt.Sprintf("registry.example/app:%d", l.versions))
	if l.broken = broken; broken {
		l.cell.Broken = append(l.cell.Broken, simulated.Hash(t, &l.readWorkload(t).Spec.Template))
	}
}

// round lets every party act once, and returns how many writes the controller has made.
func (l *leaving) round(t *testing.T) int {
	t.Helper()
	l.cell.run(t)
	writes := len(l.mustReconcile(t))
	l.withdraw(t)
	return writes
}

// settle lets all parties act until nothing changes. A state that changes forever is the worst of all.
func (l *leaving) settle(t *testing.T) {
	t.Helper()
	quiet := 0
	for range 60 {
		if quiet++; l.round(t) > 0 {
			quiet = 0
		}
		if quiet == 2 {
			return
		}
	}
	t.Fatalf("it does not settle after %v: %+v", l.moves, l.readWorkload(t).Status.Rollout)
}

// end returns the fault of the state in which it has settled.
func (l *leaving) end(t *testing.T) string {
	t.Helper()
	l.locations.cities = allCities
	l.rolls(t, func(r *v1alpha.WorkloadRollout) { r.Paused = false })
	if l.cell.Lost != "" {
		// The city stays lost, and a rollout names what it waits for.
		l.settle(t)
		if status := l.readWorkload(t).Status.Rollout; status.Phase == v1alpha.RolloutProgressing && status.Message == "" {
			return fmt.Sprintf("with %s lost, it does not say what it waits for", l.cell.Lost)
		}
		l.lose(t, "")
	}
	l.settle(t)
	return l.fault(t)
}

// fault compares the last state with the last template.
func (l *leaving) fault(t *testing.T) string {
	t.Helper()
	w := l.readWorkload(t)
	status, wanted, undoes := w.Status.Rollout, simulated.Hash(t, &w.Spec.Template), w.Spec.Rollout.OnFailure == v1alpha.RolloutUndo
	has := l.templatesOf(t)
	switch {
	case !l.broken && (status.Phase != v1alpha.RolloutComplete || slices.ContainsFunc(has, func(h string) bool { return h != wanted })):
		return fmt.Sprintf("a good template ends with %+v, and Instances have %v, not %s", status, has, wanted)
	case l.broken && undoes && status.CompleteTemplateHash != "" && status.CompleteTemplateHash != wanted &&
		(status.Phase != v1alpha.RolloutUndone || slices.Contains(has, wanted)):
		return fmt.Sprintf("a broken template that is undone ends with %+v, and Instances have %v", status, has)
	case l.broken && !undoes && status.Phase != v1alpha.RolloutFailed:
		return fmt.Sprintf("a broken template ends with %+v", status)
	case status.Phase == v1alpha.RolloutFailed && !strings.Contains(
		meta.FindStatusCondition(w.Status.Conditions, v1alpha.ConditionProgressing).Message, "does not start"):
		return fmt.Sprintf("the failure is not described: %+v", w.Status.Conditions)
	}
	return ""
}

// templatesOf returns the templates of the Instances of deployments that exist.
func (l *leaving) templatesOf(t *testing.T) []string {
	t.Helper()
	var hashes []string
	for name := range strings.FieldsSeq(l.names(t)) {
		for instance, hash := range l.cell.Templates {
			index, count := strings.TrimPrefix(instance, name+"-"), l.readDeployment(t, name).Spec.ScaleSettings.MinReplicas
			if len(index) == 1 && int32(index[0]-'0') < count {
				hashes = append(hashes, hash)
			}
		}
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// exploreLeaving plays a world to its end, and returns the fault of its last state.
func exploreLeaving(t *testing.T, seed uint64, silence bool) string {
	t.Helper()
	l := newLeaving(t, seed)
	l.silence = silence
	moves := 12
	if silence {
		moves = 2
	}
	for range moves {
		l.move(t)
		for range l.IntN(5) {
			l.round(t)
		}
	}
	if silence {
		// A good template meets a city without contact.
		l.rolls(t, func(r *v1alpha.WorkloadRollout) { r.Paused, r.OnFailure = false, v1alpha.RolloutUndo })
		l.write(t, false)
		l.round(t)
		l.lose(t, l.readDeployment(t, strings.Fields(l.names(t))[0]).Spec.CityCode)
	}
	if wrong := l.end(t); wrong != "" {
		return fmt.Sprintf("seed %d: %s\n%s", seed, wrong, strings.Join(l.moves, "\n"))
	}
	return ""
}

// TestCitiesThatLeave: any combination of cities that are removed, withdrawn, lost, added or scaled with failed rollouts,
// undos, pauses and further changes ends after some rounds, in a state that describes the outcome.
func TestCitiesThatLeave(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		if wrong := exploreLeaving(t, seed, false); wrong != "" {
			t.Error(wrong)
		}
	}
}

// TestTheModelFindsThatSilenceIsAFailure: a hub that takes a city without contact for a failure undoes a good template.
func TestTheModelFindsThatSilenceIsAFailure(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		if exploreLeaving(t, seed, true) != "" {
			return
		}
	}
	t.Error("the model does not find it")
}
