// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/names/probe"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// replica gives the reconciler the Prober of a replica that has just started: it has no answer yet.
func (f *fixture) replica() {
	f.reconciler.Prober = probe.New(probe.Options{Interval: time.Second, Clock: clock.RealClock{}})
}

// leaveOut gives a name the state that a replica stores which has lost the addresses of a city.
func (f *fixture) leaveOut(t *testing.T, name, cities, unreachable string) {
	t.Helper()
	planes.Change(t, f.Planes, f.record(t, name), func(record *unstructured.Unstructured) {
		annotations := record.GetAnnotations()
		annotations[v1alpha.AnnotationNameCities], annotations[v1alpha.AnnotationNameUnreachable] = cities, unreachable
		record.SetAnnotations(annotations)
	})
}

// TestAnUnreachableCity: a city that its cells report as serving leaves the name when its addresses are lost, the condition has the reason,
// and no replica that starts takes it back before it answers. Where nothing is asked, the word of the cells counts.
func TestAnUnreachableCity(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.serve(t, w, "ORD", "203.0.113.8")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.8")
	f.leaveOut(t, f.byPattern("web"), "DFW", "ORD")
	for range 2 {
		f.replica()
		f.reconcile(t, "web")
		f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
		got := f.wantCondition(t, "web", v1alpha.ReasonAddressUnreachable, f.byPattern("web"))
		if !strings.Contains(got.Message, "the ones of ORD do not answer the hub") {
			t.Errorf("the message is %q", got.Message)
		}
		if writes := f.reconcile(t, "web"); len(writes) > 0 {
			t.Errorf("it does not settle: %v", writes)
		}
	}
	f.reconciler.Prober = nil
	f.clock.SetTime(testBegin.Add(time.Hour))
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.8")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, f.byPattern("web"))
}

// TestSilenceBeforeTheFirstAnswer: a replica that begins to ask, such as after an outage of the hub, takes no silent city out of the name
// before it has asked.
func TestSilenceBeforeTheFirstAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.threeCities(t)
	f.replica()
	f.unhear(t, "ORD")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.8 203.0.113.9")
	f.reconciler.Prober = nil
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.9")
}

// TestTwoNamesOfAnAddress: an address is lost if the record of one of its names has left it out.
func TestTwoNamesOfAnAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web", f.own("www"))
	f.serve(t, w, "DFW", "203.0.113.7")
	f.serve(t, w, "ORD", "203.0.113.8")
	f.reconcile(t, "web")
	f.leaveOut(t, f.byPattern("web"), "DFW", "ORD")
	f.replica()
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
}
