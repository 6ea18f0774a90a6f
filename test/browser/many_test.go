// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// fleet is a Workload in memory: an API server of the tests takes minutes to store so many Instances.
type fleet struct {
	mu       sync.Mutex
	snapshot *view.Snapshot
	changed  chan struct{}
	noLogs   string
	// lines gets how many lines the followed log has next, and left counts the logs that the browser has left.
	lines chan int
	left  atomic.Int32
}

func newFleet(perCity int, cities ...string) *fleet {
	w := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web"}, Spec: v1alpha.WorkloadSpec{
		Template: template("docker.io/library/nginx:1.27"), Placements: []v1alpha.WorkloadPlacement{{
			Name: "main", CityCodes: cities, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: int32(perCity)},
		}},
	}}
	all := int32(perCity * len(cities))
	w.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: all, DesiredReplicas: all, ReadyReplicas: all}
	snapshot := &view.Snapshot{Namespace: "shop", Name: "web", Workload: w, Hidden: map[string]error{}}
	f := &fleet{snapshot: snapshot, changed: make(chan struct{}), lines: make(chan int)}
	for _, city := range cities {
		name := naming.DeploymentName("web", "main", city)
		d := v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
		d.Spec = v1alpha.WorkloadDeploymentSpec{
			WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "web"}, PlacementName: "main", CityCode: city, Template: w.Spec.Template,
			ScaleSettings: w.Spec.Placements[0].ScaleSettings,
		}
		d.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: int32(perCity), DesiredReplicas: int32(perCity), ReadyReplicas: int32(perCity)}
		f.snapshot.Deployments = append(f.snapshot.Deployments, d)
		for index := range perCity {
			i := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: naming.InstanceName(name, index), OwnerReferences: []metav1.OwnerReference{d.ControllerReference()},
			}}
			i.Status.Conditions = []metav1.Condition{ready}
			f.snapshot.Instances = append(f.snapshot.Instances, i)
		}
	}
	return f
}

// report writes the state of an Instance.
func (f *fleet) report(instance string, state metav1.Condition) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.snapshot.Instances {
		if f.snapshot.Instances[i].Name == instance {
			meta.SetStatusCondition(&f.snapshot.Instances[i].Status.Conditions, state)
		}
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// State implements page.Source.
func (f *fleet) State(_ context.Context, q page.Query) *page.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	state := &page.State{Namespace: "shop", Loaded: true, NoLogs: f.noLogs}
	state.Show([]view.Overview{view.OverviewOf(f.snapshot.Workload, f.snapshot.Deployments, f.snapshot.Now)}, q)
	if q.Workload == f.snapshot.Name {
		state.Workload = page.WorkloadOf(f.snapshot, nil, view.ErrLocationsUnread)
	}
	return state
}

// Instances implements page.Source.
func (f *fleet) Instances(_ context.Context, _, first string) []*view.Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot.Tree().From(first, page.MostInstances)
}

// Way implements page.Source.
func (f *fleet) Way(_ context.Context, _, instance string) *view.Way {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot.WayTo(instance)
}

// Log implements page.Source: a log that has as many lines as the test asks for, with what containers write to terminals.
func (f *fleet) Log(_ context.Context, asked page.LogRequest) (*page.Log, error) {
	container := cmp.Or(asked.Container, "web")
	follow := func(ctx context.Context, out io.Writer) error {
		if asked.Previous {
			_, err := io.WriteString(out, "panic: before the restart\n")
			return err
		}
		defer f.left.Add(1)
		for line := 0; ; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case more := <-f.lines:
				var text strings.Builder
				for range more {
					fmt.Fprintf(&text, "\x1b[32m%s %s\x1b[0m <img src=x> line %d\n", asked.Instance, container, line)
					line++
				}
				if _, err := io.WriteString(out, text.String()); err != nil {
					return err
				}
			}
		}
	}
	return &page.Log{Containers: []string{"web", "sidecar"}, Container: container, Follow: follow}, nil
}

// Changed implements page.Source.
func (f *fleet) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// open opens the page of a fleet.
func (f *fleet) open(t *testing.T) *browser {
	t.Helper()
	return openSource(t, f)
}

// openSource opens a page.
func openSource(t *testing.T, source page.Source) *browser {
	t.Helper()
	chromium(t)
	return visit(t, address(t, source))
}

// address serves the page of a source, and returns its address.
func address(t *testing.T, source page.Source) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	open := func(string) (page.Source, func()) { return source, func() {} }
	server.Config.Handler = page.New(page.Options{Open: open, Token: "token", Port: port, Wait: patience})
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/token/"
}

// TestMany: 5,000 Instances are a few groups, and the user sees each of a group on demand.
func TestMany(t *testing.T) {
	f := newFleet(1000, "AMS", "DFW", "FRA", "ORD", "SIN")
	b := f.open(t)
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows("#workload", "Workload web: 5000 of 5000 Instances are Ready")
	b.shows(".tree", "web-main-sin-0 to -999 Ready 1000 Instances")
	if count := value[int](b, "document.querySelectorAll('*').length"); count > 400 {
		t.Errorf("the page has %d elements", count)
	}
	if bytes := value[int](b, "fetch('state?workload=web').then((r) => r.text()).then((text) => text.length)"); bytes > 30<<10 {
		t.Errorf("the state has %d bytes", bytes)
	}

	b.run(chromedp.Click(`[data-group="web-main-fra-0"]`))
	b.shows(".tree", "web-main-fra-99 Ready", "Show more of 900")
	b.run(chromedp.Click(`[data-more]`))
	b.shows(".tree", "web-main-fra-199 Ready", "Show more of 800")

	refused := is(v1alpha.ConditionReady, metav1.ConditionFalse, v1alpha.ReasonImageUnavailable, "the registry refuses the image")
	f.report("web-main-fra-500", refused)
	b.shows(".verdict", "Instance web-main-fra-500")
	b.shows(".tree", "web-main-fra-0 to -499", "web-main-fra-500 not Ready ImageUnavailable", "web-main-fra-501 to -999")
}

// countLayouts counts how often the page asks for the height of its log, for which the browser lays out all of it.
const countLayouts = `(() => {
  const height = Object.getOwnPropertyDescriptor(Element.prototype, 'scrollHeight');
  window.layouts = 0;
  Object.defineProperty(Element.prototype, 'scrollHeight', { get() { window.layouts += 1; return height.get.call(this); } });
})()`

// TestPageOfALog: the user follows the log of an Instance as it is written, in each of its containers, and from before a
// restart, by keyboard. Markup from the container stays text. The log ends when its dialog is closed.
func TestPageOfALog(t *testing.T) {
	f := newFleet(1, "DFW")
	b := f.open(t)
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows(".tree", "web-main-dfw-0 Ready")
	b.run(chromedp.Focus(`[data-log="web-main-dfw-0"]`))
	b.press(kb.Enter)
	b.shows("#log[open]", "Log of web-main-dfw-0", "live")
	f.lines <- 1
	b.shows("#log pre", "line 0")
	b.check("a log")
	f.lines <- 99
	b.shows("#log pre", "web-main-dfw-0 web <img src=x> line 0 web-main-dfw-0", "line 99")
	b.until("document.querySelector('#log pre').scrollTop > 0") // it scrolls with the log
	b.until("document.querySelector('#log img') === null && !document.querySelector('#log pre').textContent.includes('[32m')")
	b.run(chromedp.Evaluate[chromedp.Void](countLayouts))
	f.lines <- 6000
	b.until("document.querySelector('#log pre').lastChild.data.endsWith('line 6099\\n')")
	b.until("document.querySelector('#log pre').childNodes.length === 5000") // a log without an end is bounded
	if layouts := value[int](b, "window.layouts"); layouts > 3000 {
		t.Errorf("the browser has laid out the log %d times for 6000 lines", layouts)
	}

	b.run(chromedp.Evaluate[chromedp.Void](`(() => {
	  const select = document.querySelector('#log select');
	  select.value = 'sidecar';
	  select.dispatchEvent(new Event('change', { bubbles: true }));
	})()`))
	f.awaitLeft(t, 1)
	f.lines <- 1
	b.shows("#log pre", "web-main-dfw-0 sidecar <img src=x> line 0")
	b.run(chromedp.Click("#log input"))
	b.shows("#log", "panic: before the restart", "ended")
	b.until("document.querySelector('#log pre').childNodes.length === 1")
	f.awaitLeft(t, 2)
	b.run(chromedp.Click("#log input"))
	f.lines <- 1
	b.shows("#log pre", "web-main-dfw-0 sidecar <img src=x> line 0")
	b.press(kb.Escape)
	b.until("!document.querySelector('#log').open && document.activeElement.dataset.log === 'web-main-dfw-0'")
	f.awaitLeft(t, 3)
}

// awaitLeft waits until the browser has left a number of logs.
func (f *fleet) awaitLeft(t *testing.T, logs int32) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return f.left.Load() == logs, nil
	}); err != nil {
		t.Fatalf("%d logs have ended, want %d", f.left.Load(), logs)
	}
}

// TestNoLog: where the user gets no logs, the page has no button for them, and the reason.
func TestNoLog(t *testing.T) {
	f := newFleet(1, "DFW")
	f.noLogs = "sessions of type Logs are not offered here"
	b := f.open(t)
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows("#workload", "web-main-dfw-0 Ready", "No logs here: sessions of type Logs are not offered here")
	b.until("document.querySelector('[data-log]') === null && document.querySelector('[data-path]') !== null")
}
