// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"errors"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestDeploymentsAreMade(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	workload := f.workload(t, "main dfw ORD", "spare ORD")
	f.mustReconcile(t)
	if got := f.names(t); got != "web-main-dfw web-main-ord web-spare-ord" {
		t.Errorf("deployments are %s", got)
	}
	got := f.readDeployment(t, "web-main-dfw")
	if !metav1.IsControlledBy(got, workload) || got.Labels[v1alpha.LabelWorkloadUID] != string(workload.UID) {
		t.Errorf("metadata is %+v", got.ObjectMeta)
	}
	if got.Spec.CityCode != "DFW" || got.Spec.PlacementName != "main" || got.Spec.WorkloadRef.UID != workload.UID ||
		got.Spec.ScaleSettings.MinReplicas != 2 || !equality.Semantic.DeepEqual(got.Spec.Template, workload.Spec.Template) {
		t.Errorf("spec is %+v", got.Spec)
	}
	if finalizers := f.readWorkload(t).Finalizers; !slices.Equal(finalizers, []string{v1alpha.FinalizerWorkload}) {
		t.Errorf("finalizers of the Workload are %v", finalizers)
	}
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
}

// TestADeploymentIsMadeForTheHub: hub/propagation needs no write before it writes to the hub.
func TestADeploymentIsMadeForTheHub(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	f.mustReconcile(t)
	check := func() int64 {
		t.Helper()
		got := f.readDeployment(t, "web-main-dfw")
		if got.Annotations[v1alpha.AnnotationHubNamespace] != f.HubNamespace ||
			!slices.Equal(got.Finalizers, []string{v1alpha.FinalizerPropagation}) {
			t.Errorf("its metadata is %v, %v", got.Annotations, got.Finalizers)
		}
		return got.Generation
	}
	made := check()
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Template = planes.Template("registry.example/app:2") })
	f.mustReconcile(t)
	if check() == made {
		t.Error("it has no new template")
	}
}

// TestOfTheFinalizer: a deployment does not wait for the finalizer of its Workload, and does not outlive a Workload
// that was deleted without it.
func TestOfTheFinalizer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.workload(t, "main DFW")
	f.Project.Once("patch", "Workload", func() error {
		planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) { w.Labels = map[string]string{"changed": "meanwhile"} })
		return nil
	})
	// The newer version requeues the Workload: a conflict is no failure.
	f.mustReconcile(t)
	if got := f.names(t); got != "web-main-dfw" {
		t.Errorf("deployments are %s", got)
	}
	f.mustReconcile(t)
	if finalizers := f.readWorkload(t).Finalizers; !slices.Equal(finalizers, []string{v1alpha.FinalizerWorkload}) {
		t.Errorf("after the conflict the finalizers of the Workload are %v", finalizers)
	}
}

// TestTheFinalizerIsWrittenOnce: a cache that has not received the finalizer yet causes no second write, and a
// finalizer that was removed is written again.
func TestTheFinalizerIsWrittenOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	stale := f.workload(t, "main DFW")
	ensure := func(seen *v1alpha.Workload, writes int) {
		t.Helper()
		f.Project.Calls()
		s := &scope{Reconciler: f.reconciler, request: f.request(), client: f.Project, workload: seen.DeepCopy()}
		if err := s.ensureFinalizer(t.Context()); err != nil || !s.ended {
			t.Errorf("the reconcile ends: %t, %v", s.ended, err)
		}
		if got := f.Project.Writes(); len(got) != writes {
			t.Errorf("writes are %v, want %d", got, writes)
		}
	}
	ensure(stale, 1)
	ensure(stale, 0)
	removed := planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) { w.Finalizers = nil })
	ensure(removed, 1)
	if finalizers := f.readWorkload(t).Finalizers; !slices.Equal(finalizers, []string{v1alpha.FinalizerWorkload}) {
		t.Errorf("its finalizers are %v", finalizers)
	}
	f.mustReconcile(t)
	if waiting := f.reconciler.finalizers.before.Len(); waiting != 0 {
		t.Errorf("%d Workloads wait for a finalizer that has arrived", waiting)
	}
}

// TestAWorkloadThatIsGone: its deployments, which were created from a cache that still had it, are deleted.
func TestAWorkloadThatIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	f.Project.Once("patch", "Workload", func() error { planes.Delete(t, f.Planes, workload); return nil })
	f.mustReconcile(t)
	f.withdraw(t)
	if got := f.names(t); got != "" {
		t.Errorf("deployments are %s", got)
	}
}

func TestWhatBecomesOfADeployment(t *testing.T) {
	t.Parallel()
	type deployment = v1alpha.WorkloadDeployment
	tests := map[string]struct {
		// change changes the deployment, workload the Workload, and cities are the project's cities after the first
		// reconcile.
		change   func(*testing.T, *fixture, *deployment)
		workload func(*v1alpha.Workload)
		cities   string
		check    func(before, after *deployment) bool
		wantGone bool
	}{
		"a field of others is removed": {
			change: func(t *testing.T, f *fixture, d *deployment) {
				t.Helper()
				planes.Change(t, f.Planes, d, func(d *deployment) { d.Spec.Replicas = new(int32(9)) })
			},
			check: func(_, after *deployment) bool { return after.Spec.Replicas == nil },
		},
		"a change of others is reverted": {
			change: func(t *testing.T, f *fixture, d *deployment) {
				t.Helper()
				planes.Change(t, f.Planes, d, func(d *deployment) { d.Spec.ScaleSettings.MinReplicas, d.Labels[v1alpha.LabelCityCode] = 9, "X" })
			},
			check: func(_, after *deployment) bool {
				return after.Spec.ScaleSettings.MinReplicas == 2 && after.Labels[v1alpha.LabelCityCode] == "DFW"
			},
		},
		"a deleted one is made again": {
			change: func(t *testing.T, f *fixture, d *deployment) { t.Helper(); planes.Delete(t, f.Planes, d) },
			check:  func(before, after *deployment) bool { return after.UID != before.UID },
		},
		"one that is being deleted stays as it is": {
			change: func(t *testing.T, f *fixture, d *deployment) {
				t.Helper()
				planes.Change(t, f.Planes, d, func(d *deployment) {
					d.Finalizers, d.Spec.Replicas = []string{"example.com/theirs"}, new(int32(9))
				})
				planes.Delete(t, f.Planes, d)
			},
			check: func(_, after *deployment) bool { return !after.DeletionTimestamp.IsZero() && *after.Spec.Replicas == 9 },
		},
		"a new template arrives": {
			workload: func(w *v1alpha.Workload) { w.Spec.Template = planes.Template("registry.example/app:2") },
			check: func(before, after *deployment) bool {
				return after.UID == before.UID && after.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image == "registry.example/app:2"
			},
		},
		"a withdrawn location leaves it": {cities: "ORD", check: func(before, after *deployment) bool { return after.UID == before.UID }},
		"without its city it goes": {
			workload: func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"ORD"} }, wantGone: true,
		},
		"without its placement it goes": {workload: func(w *v1alpha.Workload) { w.Spec.Placements[0].Name = "other" }, wantGone: true},
		"the case of its city does not matter": {
			workload: func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"dfw"} },
			check:    func(before, after *deployment) bool { return after.ResourceVersion == before.ResourceVersion },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "DFW ORD")
			workload := f.workload(t, "main DFW")
			f.mustReconcile(t)
			before := f.readDeployment(t, "web-main-dfw")
			if test.change != nil {
				test.change(t, f, before.DeepCopy())
				f.withdraw(t)
			}
			if test.workload != nil {
				planes.Change(t, f.Planes, workload, test.workload)
			}
			if test.cities != "" {
				f.locations.cities = test.cities
			}
			f.mustReconcile(t)
			f.withdraw(t)
			if planes.Exists(t, f.Planes, before) == test.wantGone {
				t.Fatalf("it is gone: %t", !test.wantGone)
			}
			if !test.wantGone && !test.check(before, f.readDeployment(t, "web-main-dfw")) {
				t.Errorf("it was %+v and is %+v", before, f.readDeployment(t, "web-main-dfw"))
			}
			f.mustReconcile(t)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
		})
	}
}

// TestATakenNameIsLeftToItsOwner: Workload web-main has the deployment whose name a placement would have.
func TestATakenNameIsLeftToItsOwner(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	taken := f.ofAnEarlierWorkload("web-main-dfw", "DFW")
	taken.Labels[v1alpha.LabelWorkloadName], taken.Spec.WorkloadRef.Name = "web-main", "web-main"
	planes.Create(t, f.Planes, taken)
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	if got := f.readDeployment(t, "web-main-dfw"); got.ResourceVersion != taken.ResourceVersion {
		t.Errorf("it was changed to %+v", got)
	}
	want := `deployment name web-main-dfw is taken by placement "main" in DFW of Workload "web-main"; rename the placement`
	if status := f.readWorkload(t).Status; status.Placements[0].Conditions[0].Message != want || status.Deployments != 0 {
		t.Errorf("the status is %+v", status)
	}
	planes.Delete(t, f.Planes, taken)
	f.mustReconcile(t)
	if got := f.readDeployment(t, "web-main-dfw"); got.UID == taken.UID || f.readWorkload(t).Status.Deployments != 1 {
		t.Error("the name is free and not used")
	}
}

// TestASurplusDeploymentThatWasRecreated: only the deployment that was read is deleted, not a later one of its name.
func TestASurplusDeploymentThatWasRecreated(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	workload := f.workload(t, "main DFW ORD")
	f.mustReconcile(t)
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Placements = placementsOf([]string{"main ORD"}) })
	first := f.readDeployment(t, "web-main-dfw")
	f.Project.Once("delete", "WorkloadDeployment", func() error {
		planes.Delete(t, f.Planes, first)
		f.withdraw(t)
		planes.Create(t, f.Planes, f.ofAnEarlierWorkload("web-main-dfw", "DFW"))
		return nil
	})
	if err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if got := f.readDeployment(t, "web-main-dfw"); got.UID == first.UID {
		t.Error("it was not recreated")
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	tests := map[string]struct {
		verb, kind string
		locations  error
	}{
		"the Workload":    {verb: "get", kind: "Workload"},
		"its deployments": {verb: "list", kind: "WorkloadDeploymentList"},
		"a deployment":    {verb: "get", kind: "WorkloadDeployment"},
		"a write":         {verb: "apply", kind: "WorkloadDeployment"},
		"the status":      {verb: "apply status", kind: "Workload"},
		"the finalizer":   {verb: "patch", kind: "Workload"},
		"the locations":   {locations: refused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "DFW")
			f.locations.err = test.locations
			f.workload(t, "main DFW")
			f.Project.Once(test.verb, test.kind, func() error { return refused })
			if err := f.reconcile(t); !errors.Is(err, refused) {
				t.Errorf("got %v", err)
			}
			f.locations.err = nil
			f.mustReconcile(t)
			if got := f.readWorkload(t); got.Status.Deployments != 1 || len(got.Finalizers) != 1 {
				t.Errorf("after the error it is %+v", got)
			}
		})
	}
}

func TestNothingToReconcile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("for a Workload that does not exist it writes %v", writes)
	}
	_, err := f.reconciler.Reconcile(t.Context(), mcreconcile.Request{ClusterName: "another-replica's"})
	if !errors.Is(err, multicluster.ErrClusterNotFound) {
		t.Errorf("of a project that is not engaged: %v", err)
	}
}
