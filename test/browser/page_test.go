// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// press presses keys in the page.
func (b *browser) press(keys ...string) {
	b.Helper()
	for _, key := range keys {
		b.run(chromedp.KeyEvent(key))
	}
}

// TestCreation: a Workload appears in the open page, and its cities and Instances become Ready there, without a reload.
// The user reaches it by keyboard.
func TestCreation(t *testing.T) {
	p := newProject(t)
	b := open(t, testenv.Config(t), p.namespace)
	b.shows("#workloads", "No Workloads in this namespace", "kubectl compute run")
	b.shows("#status", "live")

	w := p.workload("web", 2, "DFW", "ORD")
	b.shows(".workloads", "web")
	dallas, chicago := p.deployment(w, "DFW"), p.deployment(w, "ORD")
	p.sumUp(w, dallas)
	p.sumUp(w, chicago)
	b.shows(".workloads tbody tr", "0/4", "0/2")

	b.press(kb.Tab, kb.Enter)
	b.until("document.activeElement.id === 'main'")
	b.press(kb.Tab, kb.Tab, kb.Enter)
	b.until("location.hash === '#web'")
	b.shows("#workload", "Workload web: 0 of 4 Instances are Ready", "2 stopped at their WorkloadDeployment")

	p.instances(dallas, 2, allReady)
	p.instances(chicago, 2, allReady)
	p.sumUp(w, dallas)
	p.sumUp(w, chicago)
	p.rolls(w, v1alpha.RolloutComplete, "", "")
	b.shows(".workloads tbody tr", "4/4", "2/2", "Complete")
	b.shows("#workload", "Workload web: 4 of 4 Instances are Ready", "web-main-dfw-0 Ready", "10.0.0.1")
	b.until("document.activeElement.id === 'title'") // changes keep the focus

	p.must(p.Delete(p.Context(), w))
	for _, city := range []*v1alpha.WorkloadDeployment{dallas, chicago} {
		p.must(p.Delete(p.Context(), city))
	}
	p.must(p.DeleteAllOf(p.Context(), &v1alpha.Instance{}, client.InNamespace(p.namespace)))
	b.shows("#workload", "not found")
	b.shows("#workloads", "No Workloads in this namespace")
}

// TestPageOfARollout: the page shows a rollout as it moves from city to city, what each city waits for, and the budget.
func TestPageOfARollout(t *testing.T) {
	p := newProject(t)
	w, cities := p.running("web", 3, "DFW", "FRA", "ORD")
	p.running("shop", 2, "DFW", "ORD")
	p.running("search", 4, "FRA")
	p.event(w, corev1.EventTypeNormal, v1alpha.ReasonAvailablePlacementFound, "The Workload is available")
	b := open(t, testenv.Config(t), p.namespace)
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows(".rollout", "Complete", "DFW 3/3", "at least 8 must stay")

	w.Spec.Template = template("docker.io/library/nginx:1.28")
	p.must(p.Update(p.Context(), w))
	p.revisions(w, template("docker.io/library/nginx:1.27"), w.Spec.Template)
	p.rolls(w, v1alpha.RolloutProgressing, "DFW", "waits for the first Instance in DFW")
	b.shows(".rollout .change", "Revision 2, ", "image of web: docker.io/library/nginx:1.27 -> docker.io/library/nginx:1.28")
	b.shows(".rollout", "Progressing", "DFW 0/3", "FRA 0/3", "Queued waits for its turn")
	b.shows(".workloads", "Progressing DFW")

	p.advance(cities[0], w, 3)
	b.shows(".rollout", "DFW 3/3", "FRA 0/3")
	p.advance(cities[1], w, 1)
	p.event(w, corev1.EventTypeNormal, "Progressing", "The rollout continues in FRA")
	b.shows(".rollout li", "first Instance started 6h ago, all Ready for 5h")
	b.shows("#cities", "… DFW 1 rolling", "✓ FRA well")
	b.shows(".rollout", "DFW 3/3 Done", "FRA 1/3 Replacing", "ORD 0/3 Queued")
	b.shows(".events", "The rollout continues in FRA")
	b.shows(".tree", "web-main-fra-0 Ready", "revision 2")
	b.check("a rollout")
	b.sized(1200, 900, "light")
	b.picture("ui.png")
}

// revisions creates the history of a Workload.
func (p *project) revisions(w *v1alpha.Workload, all ...v1alpha.InstanceTemplateSpec) {
	p.Helper()
	for i := range all {
		revision := &v1alpha.WorkloadRevision{Spec: v1alpha.WorkloadRevisionSpec{Revision: int64(i + 1), Template: all[i]}}
		revision.Namespace, revision.Labels = p.namespace, map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)}
		revision.Name = naming.Revision(w.Name, p.hash(&revision.Spec.Template))
		p.must(p.Create(p.Context(), revision))
	}
}

// advance gives Instances of a city the template of the Workload, as its cell does.
func (p *project) advance(d *v1alpha.WorkloadDeployment, w *v1alpha.Workload, count int) {
	p.Helper()
	p.must(p.Get(p.Context(), client.ObjectKeyFromObject(d), d))
	d.Spec.Template = w.Spec.Template
	p.must(p.Update(p.Context(), d))
	for index := range count {
		i := &v1alpha.Instance{}
		p.must(p.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: naming.InstanceName(d.Name, index)}, i))
		i.Spec.Controller.TemplateHash = p.hash(&w.Spec.Template)
		p.must(p.Update(p.Context(), i))
		i.Status.Controller = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: i.TemplateHash()}
		i.Status.StartTime = new(metav1.NewTime(time.Now().Add(-6 * time.Hour)))
		p.must(p.Status().Update(p.Context(), i))
	}
	p.sumUp(w, d)
}

// TestBrokenTemplate: the cause has its reason, who acts, and how. Markup from a cell stays text.
func TestBrokenTemplate(t *testing.T) {
	p := newProject(t)
	w, cities := p.running("web", 2, "DFW", "ORD")
	markup := `<img src=x onerror="document.body.remove()"><script>document.title='taken'</script>`
	broken := is(v1alpha.ConditionReady, metav1.ConditionFalse, v1alpha.ReasonImageUnavailable, "the registry refuses the image "+markup)
	i := &v1alpha.Instance{}
	p.must(p.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: "web-main-dfw-0"}, i))
	p.must(p.report(i, broken))
	p.sumUp(w, cities[0])
	p.event(w, corev1.EventTypeWarning, "Failed", markup)

	b := open(t, testenv.Config(t), p.namespace)
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows(".verdict.bad", v1alpha.ReasonImageUnavailable, "Instance web-main-dfw-0 (project)", "Consumer: ",
		"the registry refuses the image <img src=x")
	b.shows(".events", "<script>document.title='taken'</script>")
	b.until("document.querySelectorAll('main img, main script').length === 0 && document.title.startsWith('web')")

	// The path to the Instance, by keyboard.
	b.run(chromedp.Focus(`[data-path="web-main-dfw-0"]`))
	b.press(kb.Enter)
	b.shows("dialog[open]", "Path to web-main-dfw-0", "project Workload web 3/4 Ready", "project Instance web-main-dfw-0 not Ready",
		v1alpha.ReasonImageUnavailable)
	b.check("a path")
	b.press(kb.Escape)
	b.until("!document.querySelector('dialog').open && document.activeElement.dataset.path === 'web-main-dfw-0'")

	// The browser itself refuses what the page never does.
	refused := value[string](b, "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'taken' } catch (e) { return e.name } })()")
	if refused != "TypeError" {
		t.Errorf("markup from text: %s", refused)
	}
	b.expect("TrustedHTML")
}

// TestPageOfALostCell: the operator acts on a cell that is not heard.
func TestPageOfALostCell(t *testing.T) {
	p := newProject(t)
	w, cities := p.running("web", 2, "DFW", "ORD")
	lost := is(v1alpha.ConditionStatusCurrent, metav1.ConditionFalse, v1alpha.ReasonCellNotReady, "cell ord does not answer")
	unknown := is(v1alpha.ConditionReady, metav1.ConditionUnknown, v1alpha.ReasonCellNotReady, "cell ord does not answer")
	for index := range 2 {
		i := &v1alpha.Instance{}
		p.must(p.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: fmt.Sprintf("web-main-ord-%d", index)}, i))
		p.must(p.report(i, unknown))
	}
	p.sumUp(w, cities[1], lost)
	b := open(t, testenv.Config(t), p.namespace)
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows(".verdict.bad", v1alpha.ReasonCellNotReady, "2 stopped at their Instance", "Operator: ", "web-main-ord-0, web-main-ord-1")
	b.shows(".tree", "ORD web-main-ord 0/2 Ready CellNotReady", "web-main-ord-0 Unknown")
	b.shows(".workloads tbody tr", "2/4", "0/2")
}

// TestExpiredCredential: the page shows the cause and the last state, and continues by itself after a new login.
func TestExpiredCredential(t *testing.T) {
	p := newProject(t)
	p.running("web", 1, "DFW")
	target, err := url.Parse(testenv.Config(t).Host)
	p.must(err)
	transport, err := rest.TransportFor(testenv.Config(t))
	p.must(err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval = transport, -1
	var expired atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !expired.Load() {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`)
	}))
	t.Cleanup(server.Close)

	b := open(t, &rest.Config{Host: server.URL}, p.namespace)
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows("#workload", "1 of 1 Instances are Ready")
	expired.Store(true)
	b.shows("#problem[role=alert]", "it has expired", "Sign in again")
	b.shows("#status[role=status]", "not updated since")
	b.shows("#workload", "1 of 1 Instances are Ready")
	expired.Store(false)
	b.shows("#status", "live")
	b.until("document.getElementById('problem').innerText === ''")
}
