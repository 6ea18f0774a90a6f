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
)

// newServing is a fixture with Workload web, which is exposed and serves in DFW and ORD.
func newServing(t *testing.T, drain *int32) (*fixture, *v1alpha.Workload) {
	t.Helper()
	f := newFixture(t, "DFW ORD")
	f.requeues = true
	workload := f.workload(t, "main DFW ORD")
	change(t, f, workload, func(w *v1alpha.Workload) {
		w.Spec.Service = &v1alpha.WorkloadService{
			Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: v1alpha.ServiceExposureLoadBalancer, DrainSeconds: drain,
		}
	})
	f.mustReconcile(t)
	f.serve(t, "web-main-dfw", at("DFW", true, 0, "203.0.113.7"))
	f.serve(t, "web-main-ord", at("ORD", true, 0, "203.0.113.8"))
	f.mustReconcile(t)
	return f, workload
}

// serve plays hub/projection.
func (f *fixture) serve(t *testing.T, name string, endpoint v1alpha.CityEndpoint) {
	t.Helper()
	changeStatus(t, f, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
		d.Status.Endpoints = []v1alpha.CityEndpoint{endpoint}
	})
}

// after lets time pass, and reconciles.
func (f *fixture) after(t *testing.T, d time.Duration) {
	t.Helper()
	f.clock.SetTime(f.clock.Now().Add(d))
	f.mustReconcile(t)
}

func inCities(codes ...string) func(*v1alpha.Workload) {
	return func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = codes }
}

// wantEndpoints checks which cities of the Workload serve.
func (f *fixture) wantEndpoints(t *testing.T, want string) {
	t.Helper()
	var got []string
	for _, endpoint := range f.readWorkload(t).Status.Endpoints {
		got = append(got, strings.TrimSpace(endpoint.City+" "+endpoint.Reason))
	}
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("endpoints %q, want %q", text, want)
	}
}

// leaving reports whether a deployment is deleted, or about to be.
func (f *fixture) leaving(t *testing.T, name string) bool {
	t.Helper()
	return !strings.Contains(f.names(t), name) || !f.readDeployment(t, name).DeletionTimestamp.IsZero()
}

// TestTrafficLeavesFirst: a city that is removed leaves the endpoints, and its Instances run for drainSeconds, whichever
// replica counts them.
func TestTrafficLeavesFirst(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, new(int32(20)))
	f.wantEndpoints(t, "DFW, ORD")
	change(t, f, workload, inCities("DFW"))
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW, ORD "+v1alpha.EndpointLeaving)
	f.after(t, 19*time.Second)
	if f.leaving(t, "web-main-ord") {
		t.Fatal("the Instances stop before the traffic has left")
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("what waits is written: %v", writes)
	}
	f.after(t, time.Second)
	if !f.leaving(t, "web-main-ord") || f.leaving(t, "web-main-dfw") {
		t.Errorf("after the drain there are %s", f.names(t))
	}
	// The event of the deletion.
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW")
}

// TestTrafficOfAMomentAgo: clients still send traffic to a city that ceased to serve within drainSeconds.
func TestTrafficOfAMomentAgo(t *testing.T) {
	t.Parallel()
	for ago, leaves := range map[time.Duration]bool{0: false, 19 * time.Second: false, 20 * time.Second: true} {
		t.Run(ago.String(), func(t *testing.T) {
			t.Parallel()
			f, workload := newServing(t, new(int32(20)))
			ceased := at("ORD", false, 0, "203.0.113.8")
			ceased.Since = metav1.NewTime(testBegin.Add(-ago))
			f.serve(t, "web-main-ord", ceased)
			change(t, f, workload, inCities("DFW"))
			f.mustReconcile(t)
			if f.leaving(t, "web-main-ord") != leaves {
				t.Errorf("its Instances stop at once: %t", !leaves)
			}
			f.after(t, 20*time.Second)
			if !f.leaving(t, "web-main-ord") {
				t.Error("after the drain its Instances run")
			}
		})
	}
}

// TestTrafficReturns: a city that is named again while it drains is offered again, and drains again the next time.
func TestTrafficReturns(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, nil)
	change(t, f, workload, inCities("DFW"))
	f.mustReconcile(t)
	f.after(t, 20*time.Second)
	change(t, f, workload, inCities("DFW", "ORD"))
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW, ORD")
	change(t, f, workload, inCities("DFW"))
	f.mustReconcile(t)
	f.after(t, 29*time.Second)
	if f.leaving(t, "web-main-ord") {
		t.Error("the second drain is shorter")
	}
	f.after(t, time.Second)
	if !f.leaving(t, "web-main-ord") {
		t.Error("the second drain does not end")
	}
}

// TestScaleToNothingDrains: a city that is scaled to no Instances leaves the endpoints first, keeps its Instances for
// drainSeconds, and is offered again when it is scaled up, also in the middle of it.
func TestScaleToNothingDrains(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, nil)
	scale := func(replicas int32) {
		change(t, f, workload, func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = replicas })
		f.mustReconcile(t)
	}
	replicas := func() int32 { return f.readDeployment(t, "web-main-ord").Spec.ScaleSettings.MinReplicas }
	scale(0)
	f.wantEndpoints(t, "DFW "+v1alpha.EndpointLeaving+", ORD "+v1alpha.EndpointLeaving)
	f.after(t, 20*time.Second)
	scale(2)
	f.wantEndpoints(t, "DFW, ORD")
	scale(0)
	f.after(t, 29*time.Second)
	if replicas() != 2 {
		t.Fatal("the Instances stop before the traffic has left")
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("what waits is written: %v", writes)
	}
	f.after(t, time.Second)
	if replicas() != 0 {
		t.Error("the Instances do not stop")
	}
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW "+v1alpha.EndpointLeaving+", ORD "+v1alpha.EndpointLeaving)
	scale(2)
	if f.wantEndpoints(t, "DFW, ORD"); replicas() != 2 {
		t.Error("it does not start again")
	}
}

// TestDeletionDrains: the Instances of a deleted Workload run until traffic has left all cities.
func TestDeletionDrains(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, nil)
	remove(t, f, workload)
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW "+v1alpha.EndpointLeaving+", ORD "+v1alpha.EndpointLeaving)
	f.after(t, 29*time.Second)
	if f.leaving(t, "web-main-dfw") || f.leaving(t, "web-main-ord") {
		t.Fatal("the Instances stop before the traffic has left")
	}
	f.after(t, time.Second)
	if !f.leaving(t, "web-main-dfw") || !f.leaving(t, "web-main-ord") {
		t.Errorf("after the drain there are %s", f.names(t))
	}
}

// TestADeletionSaysUntilWhenAndCanBeShortened: a deletion that waits for traffic says until when, is reported once, and ends sooner when
// drainSeconds of the Workload is less; more than the city had promised its clients is not waited for.
func TestADeletionSaysUntilWhenAndCanBeShortened(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, new(int32(3600)))
	drain := func(seconds int32) {
		change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Service.DrainSeconds = &seconds })
		f.mustReconcile(t)
	}
	says := func(end time.Duration) {
		t.Helper()
		progressing := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionProgressing)
		want := "traffic leaves DFW, ORD until " + f.clock.Now().Add(end).UTC().Format(time.RFC3339)
		if progressing == nil || progressing.Reason != v1alpha.ReasonTrafficLeaves || !strings.Contains(progressing.Message, want) {
			t.Errorf("it says %+v, want %q", progressing, want)
		}
	}
	remove(t, f, workload)
	f.mustReconcile(t)
	says(time.Hour)
	f.after(t, time.Minute)
	says(59 * time.Minute)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("what waits is written: %v", writes)
	}
	drain(90)
	says(30 * time.Second)
	f.after(t, 30*time.Second)
	if !f.leaving(t, "web-main-dfw") || !f.leaving(t, "web-main-ord") {
		t.Errorf("after the shorter drain there are %s", f.names(t))
	}
}

// TestNothingDrains: a city waits for no traffic that it does not have, or that another deployment takes.
func TestNothingDrains(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*testing.T, *fixture){
		"it does not serve": func(t *testing.T, f *fixture) {
			t.Helper()
			f.serve(t, "web-main-ord", at("ORD", false, -10, "203.0.113.8"))
		},
		"another deployment serves at its addresses": func(t *testing.T, f *fixture) {
			t.Helper()
			f.serve(t, "web-main-ord", at("ORD", true, 0, "203.0.113.7"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, workload := newServing(t, nil)
			set(t, f)
			change(t, f, workload, inCities("DFW"))
			f.mustReconcile(t)
			if !f.leaving(t, "web-main-ord") {
				t.Error("the deployment stays")
			}
		})
	}
	t.Run("but both deployments of one address", func(t *testing.T) {
		t.Parallel()
		f, workload := newServing(t, nil)
		f.serve(t, "web-main-ord", at("ORD", true, 0, "203.0.113.7"))
		change(t, f, workload, func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = 0 })
		f.mustReconcile(t)
		for _, name := range []string{"web-main-dfw", "web-main-ord"} {
			if f.readDeployment(t, name).Spec.ScaleSettings.MinReplicas == 0 {
				t.Errorf("%s stops before the traffic has left", name)
			}
		}
	})
	t.Run("scaled to no Instances with drainSeconds 0", func(t *testing.T) {
		t.Parallel()
		f, workload := newServing(t, new(int32(0)))
		change(t, f, workload, func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = 0 })
		f.mustReconcile(t)
		if f.readDeployment(t, "web-main-dfw").Spec.ScaleSettings.MinReplicas != 0 {
			t.Error("the Instances stay")
		}
	})
	t.Run("drainSeconds is 0", func(t *testing.T) {
		t.Parallel()
		f, workload := newServing(t, new(int32(0)))
		remove(t, f, workload)
		f.mustReconcile(t)
		if !f.leaving(t, "web-main-dfw") || !f.leaving(t, "web-main-ord") {
			t.Errorf("there are %s", f.names(t))
		}
	})
}

// TestRecordOfALaterTime: a record that cannot be true begins the drain again, and holds no deletion forever.
func TestRecordOfALaterTime(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, nil)
	change(t, f, workload, inCities("DFW"))
	change(t, f, f.readDeployment(t, "web-main-ord"), func(d *v1alpha.WorkloadDeployment) {
		d.Annotations[v1alpha.AnnotationTrafficLeaves] = "9999-01-01T00:00:00Z"
	})
	f.mustReconcile(t)
	f.after(t, 30*time.Second)
	if !f.leaving(t, "web-main-ord") {
		t.Errorf("the deployment stays: %v", f.readDeployment(t, "web-main-ord").Annotations)
	}
}

// TestDrainOfNames: without drainSeconds, Instances run until resolvers have forgotten their city; drainSeconds comes
// first.
func TestDrainOfNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		seconds *int32
		want    time.Duration
	}{"the TTL of names": {nil, 70 * time.Second}, "drainSeconds": {new(int32(5)), 5 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, workload := newServing(t, test.seconds)
			f.drain = 70 * time.Second
			change(t, f, workload, inCities("DFW"))
			f.mustReconcile(t)
			f.after(t, test.want-time.Second)
			if f.leaving(t, "web-main-ord") {
				t.Error("the Instances stop before")
			}
			f.after(t, time.Second)
			if !f.leaving(t, "web-main-ord") {
				t.Error("the Instances do not stop")
			}
		})
	}
}
