// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestAProjectThatIsLost: names stay while Milo does not have the project, or does not serve its Workloads, and go when Milo
// has the project and answers that the Workload is gone.
func TestAProjectThatIsLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	const answer = "A 203.0.113.7"
	f.wantAnswer(t, f.byPattern("web"), answer)
	planes.Delete(t, f.Planes, w)
	for name, held := range map[string]string{"one project": "", "all projects": "Milo has lost its storage"} {
		if f.absent, f.held = true, held; len(f.reconcile(t, "web")) > 0 || f.again == 0 {
			t.Errorf("when Milo has lost %s, the names are written, or never again", name)
		}
		f.wantAnswer(t, f.byPattern("web"), answer)
	}
	f.absent, f.held = false, ""
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "")
}

// TestASilentCityStays: a city beyond the operator's share keeps its addresses in the name, and the condition reports it.
func TestASilentCityStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.threeCities(t)
	f.unhear(t, "ORD")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.9")
	f.unhear(t, "FRA")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.9")
	got := f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, f.byPattern("web"))
	if !strings.Contains(got.Message, "in doubt: FRA (the hub does not hear from its cells)") {
		t.Errorf("the message is %q", got.Message)
	}
	if writes := f.reconcile(t, "web"); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
	// Its address may change meanwhile, and another city may fail.
	f.serve(t, w, "DFW", "")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.9")
	f.wantCondition(t, "web", v1alpha.ReasonNoCityServes, f.byPattern("web"))
}

// threeCities is a Workload whose name has had the addresses of DFW, ORD and FRA for an hour.
func (f *fixture) threeCities(t *testing.T) *v1alpha.Workload {
	t.Helper()
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.serve(t, w, "ORD", "203.0.113.8")
	f.serve(t, w, "FRA", "203.0.113.9")
	f.reconcile(t, "web")
	f.after(time.Hour)
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.8 203.0.113.9")
	return w
}

// unhear plays hub/projection while Karmada does not reach the cell of a city.
func (f *fixture) unhear(t *testing.T, city string) {
	t.Helper()
	f.change(t, city, func(d *v1alpha.WorkloadDeployment) {
		e := &d.Status.Endpoints[0]
		e.Serving, e.Reason, e.Since = false, v1alpha.ReasonCellNotReady, metav1.NewTime(f.clock.Now())
	})
}

// change changes the status of the deployment of a city.
func (f *fixture) change(t *testing.T, city string, change func(*v1alpha.WorkloadDeployment)) {
	t.Helper()
	name := "web-" + strings.ToLower(city)
	planes.ChangeStatus(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, name, &v1alpha.WorkloadDeployment{}), change)
}

// TestCitiesReturnTogether: after a moment in which no city serves, the first one that returns is not the whole answer,
// whichever replica decides.
func TestCitiesReturnTogether(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		reason string
		// addressed: the addresses of the cities stay known.
		addressed bool
	}{
		"no Instance is Available": {v1alpha.ReasonReplicasNotReady, true},
		"the cells are lost":       {v1alpha.ReasonCellNotReady, true},
		"addresses are withdrawn":  {v1alpha.ReasonAwaitingAddress, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := f.threeCities(t)
			for _, city := range []string{"DFW", "ORD", "FRA"} {
				f.unhear(t, city)
				f.change(t, city, func(d *v1alpha.WorkloadDeployment) {
					if d.Status.Endpoints[0].Reason = end.reason; !end.addressed {
						d.Status.Endpoints[0].Addresses = nil
					}
				})
			}
			if f.reconcile(t, "web"); f.again > 0 {
				t.Errorf("again after %s", f.again)
			}
			f.after(time.Hour)
			f.serve(t, w, "ORD", "203.0.113.8")
			f.reconcile(t, "web")
			f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.8 203.0.113.9")
			message := f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, f.byPattern("web")).Message
			if !strings.Contains(message, "DFW (it ceased before") || f.again != patience {
				t.Errorf("the message is %q, again after %s", message, f.again)
			}
			f.after(patience / 2)
			f.serve(t, w, "FRA", "203.0.113.9")
			f.after(patience / 2)
			f.reconcile(t, "web")
			f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.8 203.0.113.9")
		})
	}
}

// TestStatusThatIsLost: deployments without a status prove nothing about their cities.
func TestStatusThatIsLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.threeCities(t)
	for _, city := range []string{"DFW", "ORD"} {
		f.change(t, city, func(d *v1alpha.WorkloadDeployment) { d.Status.Endpoints = nil })
	}
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.8 203.0.113.9")
	f.serve(t, w, "FRA", "203.0.113.10")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.change(t, "DFW", func(d *v1alpha.WorkloadDeployment) {
		d.Status.Endpoints[0].Serving, d.Status.Endpoints[0].Reason = false, v1alpha.ReasonReplicasNotReady
	})
	f.reconcile(t, "web")
	// Which city has had .9 is not known.
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.10 203.0.113.8 203.0.113.9")
}

// TestTrafficLeavesDuringASilence: a city whose Instances will stop leaves the name, although the hub hears from no other one.
func TestTrafficLeavesDuringASilence(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.threeCities(t)
	for _, city := range []string{"DFW", "ORD", "FRA"} {
		f.unhear(t, city)
	}
	f.change(t, "DFW", func(d *v1alpha.WorkloadDeployment) { d.Status.Endpoints[0].Reason = v1alpha.EndpointLeaving })
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.8 203.0.113.9")
	f.wantCondition(t, "web", v1alpha.ReasonNoCityServes, f.byPattern("web"))
	if writes := f.reconcile(t, "web"); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
}

// TestAKindThatIsNotServed: that the project does not serve Workloads for a moment is no answer about one.
func TestAKindThatIsNotServed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	s := f.scope(t, "web", &v1alpha.Workload{})
	s.project.Cluster = unserved{s.project.Cluster}
	if err := s.release(t.Context()); err == nil {
		t.Error("it is taken for an answer")
	}
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
}

// unserved is a project that does not serve Workloads.
type unserved struct{ cluster.Cluster }

func (unserved) GetAPIReader() client.Reader { return notFound{} }

type notFound struct{ client.Reader }

func (notFound) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	// As an API server answers without the CRD.
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Reason: metav1.StatusReasonNotFound, Code: 404, Message: "the server could not find the requested resource",
		Details: &metav1.StatusDetails{},
	}}
}
