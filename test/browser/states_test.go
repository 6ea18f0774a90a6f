// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// noon is the time in pictures.
var noon = time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

// state is a state of the page, at an address, after what a user does.
type state struct {
	name   string
	source page.Source
	hash   string
	shows  []string
	click  string
}

// TestStates: axe-core finds nothing in any state of the page, and the state looks as in its picture. UPDATE=1 takes the pictures.
func TestStates(t *testing.T) {
	b := visit(t, "about:blank")
	b.stopTime(noon)
	for _, s := range append(ofConsumers(), ofOperators()...) {
		b.run(chromedp.Navigate(address(t, s.source) + s.hash))
		b.sized(1280, 900, "light")
		b.shows("body", s.shows...)
		if s.click != "" {
			b.run(chromedp.Click(s.click))
			b.shows("dialog[open]", "Close")
		}
		taken := newViews()
		b.check(s.name, taken.add)
		b.compare(s.name, taken)
	}

	// A picture differs when the cells of tables have a pixel more.
	b.run(chromedp.Evaluate[chromedp.Void]("document.querySelectorAll('td').forEach((cell) => { cell.style.paddingTop = '6.6px'; })"))
	taken := newViews()
	b.check("with wider tables", taken.add)
	if found := b.differing("testdata/hub-faults.png", taken); found <= mostDiffering {
		t.Errorf("of tables with wider cells %d pixels differ", found)
	}
}

// ofConsumers returns the states of a namespace.
func ofConsumers() []state {
	many, none := newCrowd(60), &page.State{Namespace: "shop", Namespaces: []string{"shop", "stage"}, Loaded: true}
	expired, vanished := *none, *none
	expired.Problem = &page.Problem{Message: "The credential has expired.", Do: "Sign in again.", Since: noon.Add(-time.Hour)}
	expired.Hidden = []string{"events", "WorkloadRevisions"}
	vanished.Loaded = false
	vanished.Problem = &page.Problem{Message: `namespace "shop" does not exist`, Do: "Choose another namespace.", Since: noon}
	vanished.Show(many.overviews[:2], page.Query{})
	return []state{
		{name: "empty", source: hub{none}, shows: []string{"No Workloads in this namespace"}},
		{name: "expired", source: hub{&expired}, shows: []string{"not updated since", "left out"}},
		{name: "vanished", source: hub{&vanished}, shows: []string{"does not exist"}},
		{name: "many", source: many, shows: []string{"58 well", "web-0000"}},
		{name: "filter", source: many, hash: "#?name=nothing&city=ORD", shows: []string{"None of 60 Workloads fits"}},
		{name: "one-of-many", source: many, hash: "#web-0000?city=ORD", shows: []string{"4 of 4 Instances are Ready", "ORD"}},
		{name: "gone", source: gone(), hash: "#web", shows: []string{"not found"}},
		{name: "rollout", source: rolling(), hash: "#web", shows: []string{"Queued", "The rollout continues in FRA"}},
		{name: "broken", source: broken(), hash: "#web", shows: []string{"2 stopped at their Instance"}},
		{name: "deadline", source: late(), hash: "#web?namespace=shop", shows: []string{"kubectl compute rollout undo web --namespace=shop"}},
		{name: "path", source: broken(), hash: "#web", shows: []string{"ImageUnavailable"}, click: `[data-path="web-main-dfw-0"]`},
		{name: "log", source: broken(), hash: "#web", shows: []string{"ImageUnavailable"}, click: `[data-log="web-main-ord-0"]`},
	}
}

// ofOperators returns the states of a hub.
func ofOperators() []state {
	well := view.City{Name: "DFW", Cells: 1, ReadyCells: 1, Deployments: 4, Ready: 8, Desired: 8, Standing: view.StandingWell}
	cells := []view.Cell{
		{Name: "dfw", City: "DFW", Ready: true, Agent: "AgentReady", Deployments: 4}, {Name: "ord", City: "ORD", Agent: "Unknown", Behind: 3},
	}
	settled := &page.Federation{
		Read: noon, Late: noon.Add(time.Minute), Well: true, Cells: cells[:1], Cities: []view.City{well},
		Replicas: []page.Replica{{Name: "a", Running: true, Renewed: ago(2 * time.Second), Shards: 16, Projects: 2}},
	}
	outdated := *settled
	outdated.Read, outdated.Late = noon.Add(-time.Hour), noon.Add(-59*time.Minute)
	cause := view.Finding{
		Reason: "AgentNotReady", Message: "no replica of Deployment karmada-compute-cell is available",
		Do: "See Deployment karmada-compute-cell with `kubectl -n karmada-system describe deployment karmada-compute-cell`.",
	}
	cells[1].Finding = &cause
	faulty := &page.Federation{
		Read:    noon.Add(-3 * time.Minute),
		Problem: &page.Problem{Message: "the API server does not answer", Do: "Check the network.", Since: noon.Add(-time.Minute)},
		Faults: []view.Fault{
			{Subject: "replicas", Finding: view.Finding{Reason: "NoReplica", Message: "no replica runs", Do: "Start one."}},
			{Subject: "ord", Finding: cause},
		},
		Replicas: []page.Replica{{Name: "a", Renewed: ago(time.Hour), Shards: 16, Projects: 2}}, Cells: cells, Omitted: 7,
		Cities: []view.City{
			{Name: "DFW", Cells: 1, ReadyCells: 1, Deployments: 4, Ready: 8, Desired: 8, Standing: view.StandingSilent},
			{Name: "LAX", Desired: 2, Standing: view.StandingNoCell},
			{Name: "ORD", Cells: 1, Desired: 3, Standing: view.StandingDrained},
		},
		Repaired: []view.Repaired{{Kind: "ResourceBinding", Namespace: "ns-a", Name: "web-main-dfw", At: ago(5 * time.Hour)}},
		Warnings: []string{"namespace shop: no role lets its consumers read Workloads"}, Hidden: []string{"Leases"},
	}
	of := func(f *page.Federation) page.Source { return hub{&page.State{Loaded: true, Federation: f}} }
	return []state{
		{name: "hub", source: of(settled), shows: []string{"Replicas", "well"}},
		{name: "hub-outdated", source: of(&outdated), shows: []string{"not updated since"}},
		{name: "hub-faults", source: of(faulty), shows: []string{"NoReplica", "Repairs"}},
	}
}

// scene is a Workload whose state is changed before the page gets it. Its log has ended.
type scene struct {
	*fleet
	change func(*page.Workload)
}

// State implements page.Source.
func (s scene) State(ctx context.Context, q page.Query) *page.State {
	state := s.fleet.State(ctx, q)
	if state.Workload != nil && s.change != nil {
		s.change(state.Workload)
	}
	return state
}

// Log implements page.Source.
func (s scene) Log(context.Context, page.LogRequest) (*page.Log, error) {
	return nil, errors.New("the container has written nothing")
}

// frozen returns a fleet of three cities whose conditions are five minutes old at noon.
func frozen() *fleet {
	f := newFleet(3, "DFW", "FRA", "ORD")
	f.snapshot.Now, f.snapshot.Workload.CreationTimestamp = noon, ago(26*time.Hour)
	available := is(v1alpha.ConditionAvailable, metav1.ConditionTrue, v1alpha.ReasonAvailablePlacementFound, "")
	f.snapshot.Workload.Status.Conditions = []metav1.Condition{available}
	for i := range f.snapshot.Instances {
		f.snapshot.Instances[i].Status.Conditions = []metav1.Condition{aged(ready)}
	}
	return f
}

func aged(c metav1.Condition) metav1.Condition {
	c.LastTransitionTime = ago(5 * time.Minute)
	return c
}

func gone() page.Source {
	f := frozen()
	f.snapshot.Workload.Status.Conditions = nil
	return scene{f, func(w *page.Workload) {
		*w = page.Workload{Name: w.Name, Gone: true, Summary: "workload shop/web not found", Tree: &view.Node{Kind: "Workload"}}
	}}
}

// late is a Workload whose rollout has passed its deadline.
func late() page.Source {
	f := frozen()
	f.snapshot.Workload.Status.Conditions = append(f.snapshot.Workload.Status.Conditions,
		aged(is(v1alpha.ConditionProgressing, metav1.ConditionFalse, v1alpha.ReasonProgressDeadlineExceeded, "an image is missing")))
	return scene{fleet: f}
}

// rolling is a Workload whose rollout is in its second city.
func rolling() page.Source {
	began, ended := ago(6*time.Minute), ago(4*time.Minute)
	return scene{frozen(), func(w *page.Workload) {
		w.Rollout = &view.Rollout{
			Workload: "web", Phase: "Progressing", Message: "waits for Instances in FRA", Budget: &view.RolloutBudget{MinAvailable: 8, Available: 9},
			Change: &view.Change{
				Revision: 2, Created: ago(7 * time.Minute), Cause: "image of web: docker.io/library/nginx:1.27 -> docker.io/library/nginx:1.28",
			},
			Cities: []view.CityTurn{
				{City: "DFW", Deployment: "web-main-dfw", Updated: 3, Instances: 3, Began: &began, Ended: &ended, Reason: "Done"},
				{City: "FRA", Deployment: "web-main-fra", Updated: 1, Instances: 3, Began: &ended, Reason: "Replacing", Message: "one at a time"},
				{City: "ORD", Deployment: "web-main-ord", Instances: 3, Reason: "Queued", Message: "waits for its turn"},
			},
			Unknown: []string{"the locations of the project are not known"},
		}
		for i, message := range []string{"The rollout continues in FRA", "The Workload is available"} {
			w.Events = append(w.Events, page.Event{
				Seen: ago(time.Duration(i+1) * time.Minute), Type: "Normal", Reason: "Progressing", Object: "Workload web", Message: message,
			})
		}
	}}
}

// broken is a Workload one of whose images is missing.
func broken() page.Source {
	f := frozen()
	refused := is(v1alpha.ConditionReady, metav1.ConditionFalse, v1alpha.ReasonImageUnavailable, "the registry refuses the image "+
		"docker.io/library/a-long-name-without-a-place-to-break-the-line-that-is-wider-than-any-telephone:1.28.0-alpine3.21-perl-otel")
	for i := range 2 {
		f.snapshot.Instances[i].Status.Conditions = []metav1.Condition{aged(refused)}
	}
	f.snapshot.Workload.Status.ReadyReplicas = 7
	f.snapshot.Deployments[0].Status.ReadyReplicas = 1
	f.snapshot.Deployments[0].Status.Conditions = []metav1.Condition{aged(is(v1alpha.ConditionReplicasReady, metav1.ConditionFalse,
		refused.Reason, refused.Message))}
	return scene{f, func(w *page.Workload) {
		w.Events = []page.Event{
			{Seen: ago(time.Minute), Type: "Warning", Reason: "Failed", Object: "Instance web-main-dfw-0", Message: refused.Message},
		}
	}}
}
