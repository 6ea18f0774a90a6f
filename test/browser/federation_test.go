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

	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// hub is a source with one state: the tests of package cli read it from a real API server.
type hub struct{ state *page.State }

func (h hub) State(context.Context, page.Query) *page.State        { return h.state }
func (hub) Instances(context.Context, string, string) []*view.Node { return nil }
func (hub) Way(context.Context, string, string) *view.Way          { return nil }
func (hub) Log(context.Context, page.LogRequest) (*page.Log, error) {
	return nil, errors.New("there is no log")
}
func (hub) Changed() <-chan struct{} { return nil }

// openHub opens the operator's page with a state.
func openHub(t *testing.T, state *page.State) *browser {
	t.Helper()
	return openSource(t, hub{state})
}

// TestHub: an operator sees cells with their faults and the action, cities, replicas and repairs, their age, and no
// Workloads.
func TestHub(t *testing.T) {
	now := time.Now()
	agent := view.Finding{Reason: "AgentNotReady", Message: "no replica <img src=x>", Do: "See Deployment karmada-compute-cell."}
	found := &page.Federation{
		Faults:   []view.Fault{{Subject: "dfw", Finding: agent}, {Subject: "LAX", Finding: view.Finding{Reason: "NoMatchingLocation"}}},
		Read:     now.Add(-3 * time.Hour), // minutes would pass on a busy machine
		Problem:  &page.Problem{Message: "the API server does not answer", Do: "Check the network.", Since: now},
		Replicas: []page.Replica{{Name: "a", Running: true, Renewed: metav1.NewTime(now), Shards: 16, Projects: 2}},
		Cells: []view.Cell{
			{Name: "dfw", City: "DFW", Ready: true, Agent: "AgentNotReady", Deployments: 4, Behind: 3, Finding: &agent},
			{Name: "ord", City: "ORD", Ready: true, Agent: "AgentReady", Deployments: 2},
		},
		Cities: []view.City{
			{Name: "DFW", Cells: 1, ReadyCells: 1, Deployments: 4, Ready: 5, Desired: 8, Standing: view.StandingBroken},
			{Name: "LAX", Deployments: 1, Desired: 2, Standing: view.StandingNoCell},
			{Name: "ORD", Cells: 1, ReadyCells: 1, Standing: view.StandingDrained},
		},
		Repaired: []view.Repaired{{
			Kind: "ResourceBinding", Namespace: "ns-a", Name: "web-main-dfw", At: metav1.NewTime(now.Add(-5 * time.Hour)),
		}},
		Omitted: 7,
	}
	b := openHub(t, &page.State{Loaded: true, Federation: found})
	b.shows("#federation .freshness", "read 3h ago, and not since: the API server does not answer", "7 rows are left out")
	b.shows("#federation .verdict", "dfw: AgentNotReady", "no replica <img src=x>", "See Deployment karmada-compute-cell.")
	b.shows("#federation .verdict:nth-of-type(2)", "LAX: NoMatchingLocation")
	b.shows("#cities", "✕ DFW broken", "✕ LAX no cell", "… ORD drained")
	b.shows("#federation > h3", "Cells")
	b.shows(".cells tbody tr", "dfw DFW ✓ yes ✕ AgentNotReady 4")
	b.shows(".cities", "broken 1/1 4", "5/8")
	b.shows(".replicas", "a ✓ yes", "16 2")
	b.shows(".repairs", "ResourceBinding ns-a web-main-dfw 5h")
	b.until("document.querySelector('#workloads').childElementCount === 0")
	b.until("document.querySelectorAll('img').length === 0")
	b.run(chromedp.Click(`#cities a[href="#?city=ORD"]`))
	b.until("document.querySelector('.cells tbody').innerText.startsWith('ord') && document.querySelectorAll('.cities tbody tr').length === 1")
	b.until("document.querySelector('#cities [aria-current]').innerText.includes('ORD')")
	b.check("a hub")
}

// TestHubIsOutdated: a hub that was not read for too long is not live, also without an error.
func TestHubIsOutdated(t *testing.T) {
	now := time.Now()
	found := &page.Federation{Read: now.Add(-time.Hour), Late: now.Add(-time.Minute), Well: true}
	b := openHub(t, &page.State{Loaded: true, Federation: found})
	b.shows("#status.bad", "not updated since", "(60m)")
}

// TestHubWithoutReplica: without a replica nothing is known of agents and Instances, whatever the hub still has of them.
func TestHubWithoutReplica(t *testing.T) {
	now := time.Now()
	found := &page.Federation{
		Read:   now,
		Faults: []view.Fault{{Subject: "replicas", Finding: view.Finding{Reason: "NoReplica", Message: "no replica runs"}}},
		Cells:  []view.Cell{{Name: "dfw", City: "DFW", Ready: true, Agent: "AgentReady", Deployments: 4}},
		Cities: []view.City{
			{Name: "DFW", Cells: 1, ReadyCells: 1, Deployments: 4, Ready: 8, Desired: 8, Standing: view.StandingSilent},
			{Name: "LAX", Desired: 2, Standing: view.StandingNoCell},
		},
	}
	b := openHub(t, &page.State{Loaded: true, Federation: found})
	b.shows("#status.bad", "live, 1 to act on")
	b.shows("#federation .verdict", "replicas: NoReplica")
	b.shows(".cells tbody tr", "dfw DFW ✓ yes … AgentReady")
	b.shows(".cities tbody tr:nth-child(1)", "silent", "… 8/8")
	b.shows(".cities tbody tr:nth-child(2)", "LAX no cell 0/0", "✕ 0/2")
}
