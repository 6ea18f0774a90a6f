// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestCopy: a command in a remedy has the name of the Workload and the chosen namespace, and is copied by keyboard. The reason
// leads to its page.
func TestCopy(t *testing.T) {
	f := newFleet(1, "DFW")
	f.snapshot.Workload.Status.Conditions = []metav1.Condition{
		is(v1alpha.ConditionProgressing, metav1.ConditionFalse, v1alpha.ReasonProgressDeadlineExceeded, "an image is missing"),
	}
	b := f.open(t)
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows(".remedy code", "kubectl compute rollout undo web")
	b.until("document.querySelector('.verdict h3 a').href.endsWith('docs/reference/reasons.md#progressing')")
	b.run(chromedp.Focus(`[data-copy]`))
	b.press(kb.Enter)
	b.until("document.getElementById('said').textContent === 'Copied: kubectl compute rollout undo web'")
	b.run(chromedp.Evaluate[chromedp.Void]("location.hash = '#web?namespace=shop'"))
	b.shows(".remedy code", "kubectl compute rollout undo web --namespace=shop")
	b.check("a command to copy")
}

// TestNamespaces: the user chooses a namespace, which stays in the address, and goes back. Nothing of the former namespace
// is shown under the name of the chosen one.
func TestNamespaces(t *testing.T) {
	p, other := newProject(t), newProject(t)
	p.running("web", 1, "DFW")
	other.running("elsewhere", 1, "ORD")
	b := open(t, testenv.Config(t), p.namespace)
	b.shows(".workloads", "web")
	b.shows("#cities", "✓ DFW well")
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows("#workload", "1 of 1 Instances are Ready")
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
	  const select = document.getElementById('namespace');
	  new MutationObserver(() => {
	    window.mixed ||= select.value === %q && document.querySelector('main').innerText.includes('web');
	  }).observe(document.body, { subtree: true, childList: true, characterData: true });
	  select.focus();
	  select.value = %[1]q;
	  select.dispatchEvent(new Event('change', { bubbles: true }));
	})()`, other.namespace)))
	b.shows(".workloads", "elsewhere")
	b.shows("#cities", "✓ ORD well")
	b.until(fmt.Sprintf("location.hash === '#?namespace=%s' && document.activeElement.id === 'namespace' && !window.mixed", other.namespace))
	b.run(chromedp.Evaluate[chromedp.Void]("history.back()"))
	b.shows("#workload", "1 of 1 Instances are Ready")
	b.until(fmt.Sprintf("document.getElementById('namespace').value === %q", p.namespace))

	b.run(chromedp.Evaluate[chromedp.Void]("location.hash = '#?namespace=vanished'"))
	b.shows("#problem[role=alert]", `namespace "vanished" does not exist`, "Choose another namespace")
	b.until("!document.querySelector('.workloads')")
}

// TestAReplacedCity: the row of cities and the table name the city that runs the Instances of a lost one, without a fault.
func TestAReplacedCity(t *testing.T) {
	state := &page.State{Namespace: "shop", Loaded: true}
	state.Show([]view.Overview{{
		Name: "web", Cities: []string{"DFW", "LAX"}, Ready: 2, Desired: 2, Level: view.LevelWell, Deployments: []view.CityOverview{
			{City: "DFW", Name: "web-main-dfw", Desired: 2, Reason: v1alpha.ReasonCellNotReady, Standing: view.StandingSilent, ReplacedBy: "LAX"},
			{City: "LAX", Name: "web-main-lax", Ready: 2, Desired: 2, Standing: view.StandingWell},
		},
	}}, page.Query{})
	b := visit(t, address(t, hub{state}))
	b.shows("#cities", "… DFW silent, Instances run in LAX instead", "✓ LAX well")
	b.shows(".workloads td.busy", "0/2")
	b.until(`document.querySelector('.workloads td.busy').title === 'CellNotReady, LAX runs its Instances'`)
}
