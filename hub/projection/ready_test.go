// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// counted returns how many deployments of the city were measured, and their seconds.
func (f *fixture) counted(t *testing.T) (count uint64, seconds float64) {
	t.Helper()
	return f.measured(t, "karmada_compute_workload_ready_seconds")
}

// measured returns the number of observations of a histogram for the city, and their sum in seconds.
func (f *fixture) measured(t *testing.T, histogram string) (count uint64, seconds float64) {
	t.Helper()
	families, err := f.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != histogram {
			continue
		}
		for _, m := range family.GetMetric() {
			if labels := m.GetLabel(); len(labels) != 1 || labels[0].GetName() != "city" || labels[0].GetValue() != f.city {
				t.Errorf("%s has labels %v", family.GetName(), labels)
			}
			count, seconds = count+m.GetHistogram().GetSampleCount(), seconds+m.GetHistogram().GetSampleSum()
		}
	}
	return count, seconds
}

// available plays a cell that reports whether the deployment is available, and shows the report.
func (f *fixture) available(t *testing.T, status metav1.ConditionStatus) {
	t.Helper()
	f.report(t, instance("web-0", f.hash, status), instance("web-1", f.hash, status))
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Status.Conditions[0].Status = status })
	f.mustReconcile(t)
}

// old sets the clock to this time after the creation of the deployment.
func (f *fixture) old(age time.Duration) { f.clock.SetTime(f.original.CreationTimestamp.Add(age)) }

// TestReadyOnce: a deployment is measured from its creation to the first time that it is available, and never again.
func TestReadyOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t)
	f.old(5 * time.Second)
	f.available(t, metav1.ConditionFalse)
	if count, _ := f.counted(t); count != 0 {
		t.Fatalf("%d are counted before it is available", count)
	}
	f.old(42 * time.Second)
	f.available(t, metav1.ConditionTrue)
	f.old(100 * time.Second)
	f.mustReconcile(t)
	f.available(t, metav1.ConditionFalse)
	f.available(t, metav1.ConditionTrue)
	if count, seconds := f.counted(t); count != 1 || seconds != 42 {
		t.Errorf("%d are counted, with %v s", count, seconds)
	}
	if followed := f.reconciler.Ready.followed.Of(planes.ProjectName); len(followed) != 0 {
		t.Errorf("%v is remembered", followed)
	}
}

// TestReadyAgain: a deployment that replaces another under its name is measured, too.
func TestReadyAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.available(t, metav1.ConditionTrue)
	planes.Delete(t, f.Planes, f.original)
	f.mustReconcile(t)
	if followed := f.reconciler.Ready.followed.Of(planes.ProjectName); len(followed) != 0 {
		t.Errorf("%v is remembered", followed)
	}
	planes.Delete(t, f.Planes, f.copied)
	f.original = f.Deployment("web", f.city)
	f.original.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
	planes.Create(t, f.Planes, f.original)
	f.copied = planes.Create(t, f.Planes, f.newCopy())
	f.available(t, metav1.ConditionTrue)
	if count, _ := f.counted(t); count != 2 {
		t.Errorf("%d are counted", count)
	}
}

// TestReadyIsNotGuessed: a deployment is not measured if this replica has not followed it from the beginning: it may
// have been available before.
func TestReadyIsNotGuessed(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(*testing.T, *fixture){
		"the process is another one": func(t *testing.T, f *fixture) {
			t.Helper()
			f.reconciler.Ready = NewReady(prometheus.WrapRegistererWithPrefix("next_", f.metrics))
		},
		"the project was of another replica for a time": func(t *testing.T, f *fixture) {
			t.Helper()
			source, _, err := f.reconciler.Ready.followed.ForCluster(planes.ProjectName, nil)
			if err != nil || source.Start(t.Context(), nil) != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.mustReconcile(t)
			forget(t, f)
			f.available(t, metav1.ConditionTrue)
			if count, _ := f.counted(t); count != 0 {
				t.Errorf("%d are counted", count)
			}
			if followed := f.reconciler.Ready.followed.Of(planes.ProjectName); len(followed) != 0 {
				t.Errorf("%v is remembered", followed)
			}
		})
	}
}

// observe calls observe for the deployment, or one like it, as if it had been read with this status.
func (f *fixture) observe(t *testing.T, deployment *v1alpha.WorkloadDeployment, read v1alpha.WorkloadDeploymentStatus) {
	t.Helper()
	engaged, err := f.Get(t.Context(), planes.ProjectName)
	if err != nil {
		t.Fatal(err)
	}
	s := &scope{Reconciler: f.reconciler, request: f.request(), cluster: engaged, facts: facts{deployment: deployment}}
	s.request.Name = deployment.Name
	s.Ready.observe(s, read)
}

// TestReadyOfAStaleCache: a cache that lacks the newest status does not count a deployment twice. A replacement is
// counted even if the deletion before it was not seen.
func TestReadyOfAStaleCache(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.old(time.Second)
	f.available(t, metav1.ConditionTrue)
	shown := f.readOriginal(t)
	f.observe(t, shown, v1alpha.WorkloadDeploymentStatus{})
	if count, _ := f.counted(t); count != 1 {
		t.Errorf("%d are counted", count)
	}
	shown.UID = "another"
	f.observe(t, shown, v1alpha.WorkloadDeploymentStatus{})
	if count, _ := f.counted(t); count != 2 {
		t.Errorf("%d are counted with the one that replaces it", count)
	}
}

// TestReadyBesideOthers: following one deployment does not affect the others of its project.
func TestReadyBesideOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t)
	other := f.Deployment("other", f.city)
	other.Status.Conditions = []metav1.Condition{
		condition(v1alpha.ConditionAvailable, metav1.ConditionTrue, v1alpha.ReasonStableInstanceFound, ""),
	}
	f.observe(t, other, v1alpha.WorkloadDeploymentStatus{
		Conditions: []metav1.Condition{condition(v1alpha.ConditionAvailable, metav1.ConditionFalse, v1alpha.ReasonInstancesProvisioning, "")},
	})
	if count, _ := f.counted(t); count != 0 {
		t.Errorf("%d are counted", count)
	}
	f.available(t, metav1.ConditionTrue)
	if count, _ := f.counted(t); count != 1 {
		t.Errorf("%d are counted", count)
	}
}
