// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// late is a mapper of a hub that does not serve the kind at first.
type late struct {
	meta.RESTMapper
	served atomic.Bool
}

func (l *late) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if gk == Kind.GroupKind() && !l.served.Load() {
		return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
	}
	return l.RESTMapper.RESTMapping(gk, versions...)
}

func newQueue(t *testing.T) queue {
	t.Helper()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	t.Cleanup(q.ShutDown)
	return q
}

// engage engages a project, and returns its requests.
func engage(t *testing.T, records *Records, name multicluster.ClusterName) queue {
	t.Helper()
	source, _, err := records.ForCluster(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(t)
	if err := source.Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	return q
}

// await waits until a queue has the request, and removes all others.
func await(t *testing.T, q queue, want mcreconcile.Request) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		for q.Len() > 0 {
			got, _ := q.Get()
			q.Done(got)
			if got == want {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("there is no request %v", want)
	}
}

// TestRecords: the kind is found when the hub begins to serve it. Then the names of a project that is engaged before or
// after, and each change of them, request their Workloads.
func TestRecords(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")

	clock := testingclock.NewFakeClock(testBegin)
	mapper := &late{RESTMapper: f.Client.RESTMapper()}
	records := &Records{Hub: f.Config(), Mapper: mapper, Namespace: system, Clock: clock}
	before := engage(t, records, planes.ProjectName)
	go func() { _ = records.Start(t.Context()) }()
	origin := f.origin()
	if _, served, err := records.Of(t.Context(), &origin, "web"); served || err != nil {
		t.Errorf("the kind is served: %t, %v", served, err)
	}
	waits := func(context.Context) (bool, error) { return clock.HasWaiters(), nil }
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, waits); err != nil {
		t.Fatal(err)
	}
	mapper.served.Store(true)
	clock.Step(pollInterval)
	await(t, before, f.request("web"))
	isKnown := func(context.Context) (bool, error) { return records.known(), nil }
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, isKnown); err != nil {
		t.Fatal(err)
	}
	found, served, err := records.Of(t.Context(), &origin, "web")
	if len(found) != 1 || !served || err != nil || found[0].GetName() != f.byPattern("web") {
		t.Errorf("it has %d names, %t, %v", len(found), served, err)
	}
	if others, _, err := records.Of(t.Context(), &origin, "other"); len(others) > 0 || err != nil {
		t.Errorf("another Workload has %d names, %v", len(others), err)
	}
	after := engage(t, records, planes.ProjectName)
	await(t, after, f.request("web"))
	planes.Delete(t, f.Planes, f.record(t, f.byPattern("web")))
	await(t, after, f.request("web"))
	if q := engage(t, records, "south"); q.Len() > 0 {
		t.Error("another project has requests")
	}
}

// TestEventsOfDeployments: only a change of an endpoint is an event. An Instance that flaps while another one serves is
// none.
func TestEventsOfDeployments(t *testing.T) {
	t.Parallel()
	serving := func() *v1alpha.WorkloadDeployment {
		return &v1alpha.WorkloadDeployment{Status: v1alpha.WorkloadDeploymentStatus{
			Endpoints: []v1alpha.CityEndpoint{{City: "DFW", Serving: true, Addresses: parse("203.0.113.7")}},
		}}
	}
	for name, test := range map[string]struct {
		change func(*v1alpha.WorkloadDeployment)
		want   bool
	}{
		"an Instance flaps": {func(d *v1alpha.WorkloadDeployment) { d.Status.ReadyReplicas, d.Status.AvailableReplicas = 1, 1 }, false},
		"a new template":    {func(d *v1alpha.WorkloadDeployment) { d.Generation = 2 }, false},
		"it serves no more": {func(d *v1alpha.WorkloadDeployment) { d.Status.Endpoints[0].Serving = false }, true},
		"another address":   {func(d *v1alpha.WorkloadDeployment) { d.Status.Endpoints[0].Addresses = parse("203.0.113.8") }, true},
		"traffic leaves": {func(d *v1alpha.WorkloadDeployment) {
			d.Annotations = map[string]string{v1alpha.AnnotationTrafficLeaves: "2026-01-01T00:00:00Z"}
		}, true},
		"it is deleted": {func(d *v1alpha.WorkloadDeployment) { d.DeletionTimestamp = &metav1.Time{Time: testBegin} }, true},
	} {
		after := serving()
		test.change(after)
		if got := endpointsChanged().Update(event.UpdateEvent{ObjectOld: serving(), ObjectNew: after}); got != test.want {
			t.Errorf("%s: an event %t", name, got)
		}
	}
	if !endpointsChanged().Create(event.CreateEvent{Object: serving()}) || !endpointsChanged().Delete(event.DeleteEvent{Object: serving()}) ||
		endpointsChanged().Create(event.CreateEvent{Object: &v1alpha.WorkloadDeployment{}}) {
		t.Error("creations and deletions")
	}
}
