// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// know makes the hub know these cities, all of which can run Instances.
func (f *fixture) know(cities string) {
	f.health = map[string]cells.Health{}
	for city := range strings.FieldsSeq(cities) {
		f.health[city] = cells.Able
	}
}

// report lets the cell of a deployment report. Where the hub knows the health of cities, the cells of a lost city neither act nor report,
// the project shows their Instances as unknown, and a cordoned city has no Instances.
func (c *cell) report(t *testing.T, d *v1alpha.WorkloadDeployment) {
	t.Helper()
	if c.f.health == nil {
		c.Report(t, d)
		return
	}
	if at := d.Spec.CityCode; (c.f.stuck == at || c.f.crowded == at) && c.f.health[at] == cells.Able {
		c.stop(t, d)
		return
	}
	available := metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonReplicasNotReady}
	progressing := metav1.Condition{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonRollingOut}
	switch c.f.health[strings.ToUpper(d.Spec.CityCode)] {
	case cells.Able:
		c.Report(t, d)
		if d.Status.AvailableReplicas == d.Status.AssignedReplicas {
			available.Status, available.Reason = metav1.ConditionTrue, v1alpha.ReasonStableInstanceFound
			progressing.Status, progressing.Reason = metav1.ConditionFalse, v1alpha.ReasonSettled
		}
	case cells.Closed:
		d.Status.ObservedGeneration, d.Status.AvailableReplicas, d.Status.ReadyReplicas = d.Generation, 0, 0
	case cells.Lost, cells.Empty, cells.InDoubt:
		available.Status, available.Reason = metav1.ConditionUnknown, v1alpha.ReasonCellNotReady
		d.Status.AvailableReplicas, d.Status.ReadyReplicas = 0, 0
	}
	for _, condition := range []metav1.Condition{available, progressing} {
		condition.LastTransitionTime = metav1.NewTime(testBegin)
		meta.SetStatusCondition(&d.Status.Conditions, condition)
	}
	for i := range d.Status.Endpoints {
		d.Status.Endpoints[i].Serving = available.Status == metav1.ConditionTrue
	}
}

// stop reports that no Instance of a deployment starts, and that its deadline has passed.
func (c *cell) stop(t *testing.T, d *v1alpha.WorkloadDeployment) {
	t.Helper()
	c.Report(t, d)
	d.Status.AvailableReplicas, d.Status.ReadyReplicas, d.Status.Indices[0].AvailableIndices = 0, 0, ""
	reason := v1alpha.ReasonReplicasNotReady
	if c.f.crowded == d.Spec.CityCode {
		reason = v1alpha.ReasonUnschedulable
	}
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
		Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.NewTime(testBegin),
	})
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
		Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProgressDeadlineExceeded,
		LastTransitionTime: metav1.NewTime(testBegin),
	})
}

func (f *fixture) annotate(t *testing.T, name, value string) {
	t.Helper()
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { metav1.SetMetaDataAnnotation(&w.ObjectMeta, name, value) })
}

func init() {
	// stuck DFW: no Instance starts in the city, and deadlines pass there.
	commands["stuck"] = func(_ *testing.T, s *sequence, of string) { s.stuck = of }
	// crowd DFW: the cells of the city lack the capacity for its Instances. room DFW=0 SEA=2: so many more Instances fit there.
	commands["crowd"] = func(_ *testing.T, s *sequence, of string) { s.crowded = of }
	commands["room"] = func(t *testing.T, s *sequence, of string) {
		t.Helper()
		s.room = map[string]int32{}
		for item := range strings.FieldsSeq(of) {
			city, count, _ := strings.Cut(item, "=")
			s.room[city] = int32(count[0] - '0')
		}
	}
	// hold DFW: an operator holds failovers of the city.
	commands["hold"] = func(_ *testing.T, s *sequence, of string) { s.held = map[string]bool{of: true} }
	// leave DFW=SEA: the consumer leaves the city by hand. return: the consumer asks for the return.
	commands["leave"] = func(t *testing.T, s *sequence, of string) {
		t.Helper()
		s.annotate(t, v1alpha.AnnotationLeaveCities, of)
	}
	commands["return"] = func(t *testing.T, s *sequence, _ string) {
		t.Helper()
		s.annotate(t, v1alpha.AnnotationReturnRequested, s.clock.Now().UTC().Format(time.RFC3339))
	}
	// overflow {"after": "1m"}: a city without capacity is replaced.
	commands["overflow"] = func(t *testing.T, s *sequence, of string) {
		t.Helper()
		change(t, s.fixture, s.readWorkload(t), func(w *v1alpha.Workload) {
			w.Spec.Placements[0].Spread.Overflow = &v1alpha.PlacementOverflow{}
			merge(t, w.Spec.Placements[0].Spread.Overflow, of)
		})
	}

	// know DFW ORD SEA: the hub knows the health of these cities.
	commands["know"] = func(_ *testing.T, s *sequence, of string) {
		s.locations.cities = of
		s.know(of)
	}
	// candidates 2 SEA DFW ORD: two of these candidates run the Instances. "none": all of them do.
	commands["candidates"] = func(t *testing.T, s *sequence, of string) {
		t.Helper()
		count, cities, _ := strings.Cut(of, " ")
		change(t, s.fixture, s.readWorkload(t), func(w *v1alpha.Workload) {
			placement := &w.Spec.Placements[0]
			placement.CityCodes = strings.Fields(cities)
			if placement.Spread == nil {
				placement.Spread = &v1alpha.PlacementSpread{}
			}
			placement.Spread.Cities = int32(count[0] - '0')
		})
	}
	// failover {"return": "Never"}: a city that serves nothing is replaced.
	commands["failover"] = func(t *testing.T, s *sequence, of string) {
		t.Helper()
		change(t, s.fixture, s.readWorkload(t), func(w *v1alpha.Workload) {
			w.Spec.Placements[0].Spread.Failover = &v1alpha.PlacementFailover{}
			merge(t, w.Spec.Placements[0].Spread.Failover, of)
		})
	}
	// lose DFW ORD, cordon DFW, doubt DFW, find DFW: what the hub knows of cities.
	for name, health := range map[string]cells.Health{
		"lose": cells.Lost, "cordon": cells.Closed, "doubt": cells.InDoubt, "find": cells.Able,
	} {
		commands[name] = func(_ *testing.T, s *sequence, of string) {
			for city := range strings.FieldsSeq(of) {
				s.health[city] = health
			}
		}
	}
}

// describeRecord shows a recorded city.
func describeRecord(c *v1alpha.PlacementCity) string {
	text := "  city   " + c.City + " " + string(c.Phase)
	if c.ReplacedBy != "" {
		text += ", replaced by " + c.ReplacedBy
	}
	if c.Reason != "" {
		text += ", " + string(c.Reason)
	}
	if c.Since != nil {
		text += ", since " + c.Since.UTC().Format("15:04:05")
	}
	return text
}
