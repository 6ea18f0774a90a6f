// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// crowd is a namespace with many Workloads, which have the state of the fleet's.
type crowd struct {
	*fleet
	overviews []view.Overview
}

func newCrowd(count int) *crowd {
	c := &crowd{fleet: newFleet(2, "DFW", "ORD")}
	first := view.OverviewOf(c.snapshot.Workload, c.snapshot.Deployments, c.snapshot.Now)
	for i := range count {
		o := first
		o.Name = fmt.Sprintf("web-%04d", i)
		switch i {
		case count - 1:
			o.Level, o.Reason, o.Finding = view.LevelBroken, "ImageUnavailable", &view.Finding{Reason: "ImageUnavailable"}
		case count / 2:
			o.Level, o.Rollout, o.Cities, o.Deployments = view.LevelRolling, "Progressing DFW", o.Cities[:1], o.Deployments[:1]
		}
		c.overviews = append(c.overviews, o)
	}
	return c
}

func (c *crowd) open(t *testing.T) *browser {
	t.Helper()
	return openSource(t, c)
}

// State implements page.Source.
func (c *crowd) State(ctx context.Context, q page.Query) *page.State {
	state := &page.State{Namespace: "shop", Loaded: true}
	state.Show(c.overviews, q)
	if q.Workload != "" {
		state.Workload = c.fleet.State(ctx, page.Query{Workload: c.snapshot.Name}).Workload
		state.Workload.Name = q.Workload
	}
	return state
}

// TestCrowd: of 5,000 Workloads, broken and rolling ones are first. A filter is in the address, and the detail of a
// Workload is beside the list and has the focus.
func TestCrowd(t *testing.T) {
	b := newCrowd(5000).open(t)
	b.shows(".sums", "1 broken", "1 rolling", "4998 well")
	b.shows(".workloads tbody tr:nth-child(1)", "web-4999", "ImageUnavailable")
	b.shows(".workloads tbody tr:nth-child(2)", "web-2500", "Progressing DFW")
	b.shows("#workloads", "and 4700 more")
	if reason := value[string](b, "document.querySelector('.workloads tbody tr:nth-child(3) td:nth-child(3)').innerText"); reason != "" {
		t.Errorf("a Workload that is well has the reason %q", reason)
	}
	if count := value[int](b, "document.querySelectorAll('*').length"); count > 4000 {
		t.Errorf("the page has %d elements", count)
	}

	b.run(chromedp.Click(`a[href="#web-4999"]`))
	b.shows("#workload", "web-4999", "4 of 4 Instances are Ready")
	b.until("document.activeElement.id === 'title'")
	b.until("document.getElementById('title').getBoundingClientRect().top < 300")
	b.until("document.querySelector('.workloads').checkVisibility() && document.querySelector('tr.selected').innerText.includes('web-4999')")

	b.run(chromedp.Focus(`#filter [name=name]`))
	b.press("4", "2", "0")
	b.shows("#workloads .workloads", "web-0420", "web-4200", "web-4209")
	b.until("location.hash === '#web-4999?name=420' && document.querySelectorAll('.workloads tbody tr').length === 15")
	b.until("document.activeElement.name === 'name' && document.activeElement.value === '420'")
	b.press("x")
	b.shows("#workloads", "None of 5000 Workloads fits the filter")
	b.run(chromedp.Click("#workloads .empty a"))
	b.shows("#workloads", "and 4700 more")
	b.until("location.hash === '#web-4999' && document.querySelector('#filter [name=name]').value === ''")

	b.run(chromedp.Navigate(value[string](b, "location.href.split('#')[0]")+"?again#?city=ORD&level=rolling"), chromedp.Reload())
	b.shows("#workloads", "None of 5000 Workloads fits the filter")
	b.until("document.querySelector('#filter [name=city]').value === 'ORD'")
	b.until("document.querySelector('#filter [name=level]').value === 'rolling'")
}

// TestPhone: on a small screen a Workload has the whole of it, with a way back to where the user was.
func TestPhone(t *testing.T) {
	b := newCrowd(60).open(t)
	b.sized(390, 844, "dark")
	b.shows(".workloads", "web-0030")
	b.run(chromedp.Focus(`a[href="#web-0030"]`))
	b.press(kb.Enter)
	b.shows("#workload", "4 of 4 Instances are Ready")
	b.until("!document.querySelector('.workloads').checkVisibility() && document.getElementById('title').getBoundingClientRect().top < 200")
	b.check("one of many")
	b.sized(390, 844, "dark")
	b.run(chromedp.Click(".back"))
	b.until("document.querySelector('.workloads').checkVisibility() && document.querySelector('#workload').innerText === ''")
	b.until("document.activeElement.getAttribute('href') === '#web-0030'")
}
