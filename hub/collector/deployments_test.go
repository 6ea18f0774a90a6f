// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestInOrder: the audit of a faultless path writes nothing and calls no API server.
func TestInOrder(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	f.HubAPI.Calls()
	for range 3 {
		rest, writes := f.audit(t)
		if len(writes) > 0 || rest < interval*4/5 || rest > interval*6/5 {
			t.Errorf("it writes %v, and looks again after %s", writes, rest)
		}
		f.pass(rest)
	}
	if calls := f.HubAPI.Calls(); len(calls) > 0 {
		t.Errorf("it asks the API server: %v", calls)
	}
}

func forgottenDeletion(t *testing.T, f *deploymentsFixture) {
	t.Helper()
	planes.Delete(t, f.Planes, f.work(t))
}

// repairTest breaks a path and expects a repair.
type repairTest struct {
	breakIt func(*testing.T, *deploymentsFixture)
	// present sets the test's clock to the API server's, which sets the deletion timestamps.
	present bool
	want    planes.Call
	check   func(*testing.T, *deploymentsFixture) bool
}

// repairTests are keyed by the fault.
var repairTests = map[string]repairTest{
	"a Work whose deletion was forgotten": {
		breakIt: forgottenDeletion, present: true, want: planes.Call{Verb: "patch", Kind: "Work"},
		check: func(t *testing.T, f *deploymentsFixture) bool {
			t.Helper()
			work := f.work(t)
			return work.Spec.SuspendDispatching == nil && work.Annotations[v1alpha.AnnotationRepairedAt] != "" &&
				len(work.Spec.Workload.Manifests) == 1
		},
	},
	"a Work that Karmada forgot to carry out": {
		breakIt: func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			work := planes.Change(t, f.Planes, f.work(t), func(w *workv1alpha1.Work) { w.Spec.SuspendDispatching = nil })
			planes.ChangeStatus(t, f.Planes, work, func(w *workv1alpha1.Work) { w.Status.Conditions = nil })
		}, want: planes.Call{Verb: "patch", Kind: "Work"},
		check: func(t *testing.T, f *deploymentsFixture) bool {
			t.Helper()
			suspended := f.work(t).Spec.SuspendDispatching
			return suspended != nil && !*suspended
		},
	},
	"a cell without a Work": {
		breakIt: func(t *testing.T, f *deploymentsFixture) { t.Helper(); end(t, f, f.work(t)) },
		want:    planes.Call{Verb: "patch", Kind: "ResourceBinding"},
		check: func(t *testing.T, f *deploymentsFixture) bool {
			t.Helper()
			return f.binding(t).Generation == 2 && f.binding(t).Spec.Resource.UID == f.copied.UID
		},
	},
	"a copy without a binding": {
		breakIt: func(t *testing.T, f *deploymentsFixture) { t.Helper(); planes.Delete(t, f.Planes, f.binding(t)) },
		want:    planes.Call{Verb: "patch", Kind: "WorkloadDeployment"},
		check: func(t *testing.T, f *deploymentsFixture) bool {
			t.Helper()
			stored := planes.Get(t, f.Planes, f.HubNamespace, "web", &v1alpha.WorkloadDeployment{})
			return stored.Annotations[v1alpha.AnnotationRepairedAt] != "" && stored.Generation == f.copied.Generation
		},
	},
	"the binding of an earlier copy": {
		breakIt: func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			planes.Change(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) {
				b.OwnerReferences[0].UID, b.Spec.Resource.UID, b.Finalizers = "earlier", "earlier", []string{"example.com/karmada"}
			})
		}, want: planes.Call{Verb: "patch", Kind: "ResourceBinding"},
		check: func(t *testing.T, f *deploymentsFixture) bool {
			t.Helper()
			b := f.binding(t)
			return metav1.IsControlledBy(b, f.copied) && b.Spec.Resource.UID == f.copied.UID && len(b.Spec.Clusters) == 1 &&
				len(b.Finalizers) == 1 && b.DeletionTimestamp.IsZero()
		},
	},
	"the binding of an earlier Workload": {
		breakIt: func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			planes.Change(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) { b.OwnerReferences[0].UID = "earlier" })
			planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Labels[v1alpha.LabelWorkloadUID] = "another" })
		}, want: planes.Call{Verb: "delete", Kind: "ResourceBinding"},
		check: func(t *testing.T, f *deploymentsFixture) bool {
			t.Helper()
			return !planes.Exists(t, f.Planes, planes.BindingOf(f.copied))
		},
	},
	"what is left of a deployment": {
		breakIt: func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			f.remove(t)
		}, want: planes.Call{Verb: "delete", Kind: "ResourceBinding"},
		check: func(t *testing.T, f *deploymentsFixture) bool {
			t.Helper()
			return !planes.Exists(t, f.Planes, planes.BindingOf(f.copied))
		},
	},
	"a Work that is left of a deployment": {
		breakIt: func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			planes.Delete(t, f.Planes, f.binding(t))
			f.remove(t)
		}, want: planes.Call{Verb: "delete", Kind: "Work"},
		check: func(t *testing.T, f *deploymentsFixture) bool {
			t.Helper()
			return !f.work(t).DeletionTimestamp.IsZero()
		},
	},
}

// TestRepairs: after a fault has lasted for too long, an object is changed so that Karmada's controllers get an event
// that they do not drop.
func TestRepairs(t *testing.T) {
	t.Parallel()
	for name, test := range repairTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newDeploymentsFixture(t)
			test.breakIt(t, f)
			if test.present {
				f.clock.SetTime(time.Now().Truncate(time.Second))
			}
			writes := f.repair(t)
			if len(writes) != 1 || writes[0].Verb != test.want.Verb || writes[0].Kind != test.want.Kind {
				t.Fatalf("it writes %v, want one %s of a %s", writes, test.want.Verb, test.want.Kind)
			}
			if !test.check(t, f) {
				t.Error("the object is not as it should be")
			}
			f.clock.SetTime(time.Now())
			if _, writes := f.audit(t); len(writes) > 0 {
				t.Errorf("without a pause it writes %v", writes)
			}
		})
	}
}

// TestNothingIsDeletedOnAGuess: leftovers of a deployment remain as long as the project could still need them.
func TestNothingIsDeletedOnAGuess(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, *deploymentsFixture){
		"the project has the deployment": func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			f.Project.Once("get", "WorkloadDeployment", func() error {
				// A cache that has lost the object.
				return apierrors.NewNotFound(v1alpha.GroupVersion.WithResource("workloaddeployments").GroupResource(), "web")
			})
		},
		"the project does not serve the kind yet": func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			planes.Delete(t, f.Planes, f.original)
			f.Project.Before(func(call planes.Call) error {
				if call.Kind != "WorkloadDeployment" {
					return nil
				}
				return apierrors.NewGenericServerResponse(http.StatusNotFound, "get",
					v1alpha.GroupVersion.WithResource("").GroupResource(), "", "no such resource", 0, true)
			})
		},
		"the project does not answer": func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			planes.Delete(t, f.Planes, f.original)
			f.Project.Before(func(call planes.Call) error {
				if call.Kind != "Namespace" {
					return nil
				}
				return errors.New("connection refused")
			})
		},
		"the copy was made again": func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			planes.Delete(t, f.Planes, f.original)
			f.Hub.Before(func(call planes.Call) error {
				if call.Verb != "get" || call.Kind != "WorkloadDeployment" {
					return nil
				}
				return apierrors.NewNotFound(v1alpha.GroupVersion.WithResource("workloaddeployments").GroupResource(), "web")
			})
			again := f.copied.DeepCopy()
			again.ResourceVersion, again.UID = "", ""
			planes.Create(t, f.Planes, again)
		},
		"it is of an earlier project": func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			planes.Delete(t, f.Planes, f.original)
			planes.Change(t, f.Planes, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.HubNamespace}}, func(n *corev1.Namespace) {
				n.Labels[v1alpha.LabelProjectUID] = "earlier"
			})
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newDeploymentsFixture(t)
			planes.Delete(t, f.Planes, f.copied)
			change(t, f)
			for range 2 {
				_, _ = f.reconciler.Reconcile(t.Context(), f.request())
				f.pass(after)
			}
			if !planes.Exists(t, f.Planes, planes.BindingOf(f.copied)) || !f.work(t).DeletionTimestamp.IsZero() {
				t.Error("it was deleted")
			}
		})
	}
}

// TestARepairThatDoesNotHelp is retried with pauses, takes turns with repairs that begin at the copy, and is then
// reported.
func TestARepairThatDoesNotHelp(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	end(t, f, f.work(t))
	f.Project.Calls()
	var kinds []string
	for _, call := range f.repair(t) {
		kinds = append(kinds, call.Kind)
	}
	for len(kinds) < 8 {
		rest, writes := f.audit(t)
		for _, call := range writes {
			kinds = append(kinds, call.Kind)
		}
		f.pass(rest)
	}
	if want := "ResourceBinding ResourceBinding" + strings.Repeat(" WorkloadDeployment ResourceBinding", 3); strings.Join(kinds, " ") != want {
		t.Errorf("it writes to %v", kinds)
	}
	told := 0
	for _, call := range f.Project.Calls() {
		if call.Verb == "event WorkMissing" && call.Name == "web" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("it was told %d times", told)
	}
	f.expectFaults(t, `karmada_compute_audit_faults{reason="WorkMissing"} 1`)
	f.settle(t)
	if _, writes := f.audit(t); len(writes) > 0 {
		t.Errorf("of what is in order again it writes %v", writes)
	}
	f.expectFaults(t, "")
}

func (f *deploymentsFixture) expectFaults(t *testing.T, want string) {
	t.Helper()
	if want != "" {
		want = "# HELP karmada_compute_audit_faults Deployments of this replica's projects whose path to the cells has had a " +
			"fault for too long, by fault.\n" +
			"# TYPE karmada_compute_audit_faults gauge\n" + want + "\n"
	}
	if err := testutil.GatherAndCompare(f.registry, strings.NewReader(want), "karmada_compute_audit_faults"); err != nil {
		t.Error(err)
	}
}

// TestABusyKarmada: new objects are repaired later than old ones.
func TestABusyKarmada(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	end(t, f, f.work(t))
	f.clock.SetTime(f.copied.CreationTimestamp.Time)
	f.audit(t)
	f.pass(3*after - time.Second)
	if rest, writes := f.audit(t); len(writes) > 0 || rest != time.Second {
		t.Errorf("it writes %v, and looks again after %s", writes, rest)
	}
	f.pass(time.Second)
	if _, writes := f.audit(t); len(writes) != 1 {
		t.Errorf("it writes %v", writes)
	}
}

// TestASuspendedWork: a Work that was suspended by hand remains suspended.
func TestASuspendedWork(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	planes.Change(t, f.Planes, f.work(t), func(w *workv1alpha1.Work) { w.Spec.SuspendDispatching = new(true) })
	forgottenDeletion(t, f)
	f.pass(after)
	if _, err := f.reconciler.Reconcile(t.Context(), f.request()); err == nil || !strings.Contains(err.Error(), "suspended") {
		t.Errorf("got %v", err)
	}
	if !*f.work(t).Spec.SuspendDispatching {
		t.Error("it was resumed")
	}
}

// TestAnObjectOfThatNameByNow: an object is not changed if it has been replaced since it was judged.
func TestAnObjectOfThatNameByNow(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	planes.Change(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) { b.OwnerReferences[0].UID = "earlier" })
	f.audit(t)
	f.pass(after)
	f.HubAPI.Once("get", "ResourceBinding", func() error {
		old := f.binding(t)
		planes.Delete(t, f.Planes, old)
		old.ResourceVersion, old.UID = "", ""
		planes.Create(t, f.Planes, old)
		return nil
	})
	if _, writes := f.audit(t); len(writes) > 0 {
		t.Errorf("it writes %v", writes)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	tests := map[string]struct {
		plane      func(*deploymentsFixture) *planes.Plane
		verb, kind string
	}{
		"the original":                {func(f *deploymentsFixture) *planes.Plane { return f.Project }, "get", "WorkloadDeployment"},
		"the copy":                    {func(f *deploymentsFixture) *planes.Plane { return f.Hub }, "get", "WorkloadDeployment"},
		"the binding":                 {func(f *deploymentsFixture) *planes.Plane { return f.Hub }, "get", "ResourceBinding"},
		"the Clusters":                {func(f *deploymentsFixture) *planes.Plane { return f.Hub }, "list", "ClusterList"},
		"the Works":                   {func(f *deploymentsFixture) *planes.Plane { return f.Hub }, "list", "WorkList"},
		"an object in need of repair": {func(f *deploymentsFixture) *planes.Plane { return f.HubAPI }, "get", "ResourceBinding"},
		"the repair":                  {func(f *deploymentsFixture) *planes.Plane { return f.Hub }, "patch", "ResourceBinding"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newDeploymentsFixture(t)
			end(t, f, f.work(t))
			f.audit(t)
			f.pass(after)
			test.plane(f).Once(test.verb, test.kind, func() error { return refused })
			if _, err := f.reconciler.Reconcile(t.Context(), f.request()); !errors.Is(err, refused) {
				t.Errorf("got %v", err)
			}
			f.pass(after)
			if _, writes := f.audit(t); !slices.ContainsFunc(writes, func(call planes.Call) bool { return call.Kind == "ResourceBinding" }) {
				t.Errorf("after the error it writes %v", writes)
			}
		})
	}
}

// TestForgedHubNamespace: nothing is repaired in a namespace that the deployment notes but that belongs to another
// project.
func TestForgedHubNamespace(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	planes.Change(t, f.Planes, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.HubNamespace}}, func(n *corev1.Namespace) {
		n.Labels[v1alpha.LabelProjectUID] = "south-uid"
	})
	end(t, f, f.work(t))
	for range 3 {
		if rest, writes := f.audit(t); len(writes) > 0 || rest != verifyAfter {
			t.Errorf("it writes %v, and looks again after %s", writes, rest)
		}
		f.pass(2 * after)
	}
}
