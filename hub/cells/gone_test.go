// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// fixture is a cell with a Work of a hub namespace, a Work of a deployment, and a Work that is not the add-on's.
type fixture struct {
	*planes.Planes
	reconciler               *Gone
	cell                     *clusterv1alpha1.Cluster
	ofNamespace, ours, other *workv1alpha1.Work
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Planes: planes.New(t)}
	cities := &Cities{Namespaces: f.Client, APIReader: f.Client, Writer: f.Client}
	cities.complete.Store(true)
	f.reconciler = &Gone{Hub: f.Hub, Cities: cities, APIReader: f.HubAPI, Clock: testclock.NewFakePassiveClock(time.Now())}
	f.cell = f.Cell(t, planes.City())
	f.ofNamespace = f.work(t, "namespace", map[string]string{
		v1alpha.LabelHubNamespace: f.HubNamespace, v1alpha.LabelProject: "cluster-north",
	}, nil)
	f.ours = f.work(t, "deployment", nil, map[string]string{workv1alpha2.ResourceBindingNamespaceAnnotationKey: f.HubNamespace})
	f.other = f.work(t, "other", nil, map[string]string{workv1alpha2.ResourceBindingNamespaceAnnotationKey: "default"})
	return f
}

func (f *fixture) work(t *testing.T, name string, labels, annotations map[string]string) *workv1alpha1.Work {
	t.Helper()
	return planes.Create(t, f.Planes, &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(f.cell.Name), Name: name, Labels: labels, Annotations: annotations,
		Finalizers: []string{ExecutionFinalizer},
	}})
}

// forget annotates the namespace of the cell's Works, as an operator does. An agent may annotate its Cluster.
func (f *fixture) forget(t *testing.T) {
	t.Helper()
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: planes.ExecutionSpace(f.cell.Name)}}
	planes.Change(t, f.Planes, space, func(n *corev1.Namespace) {
		metav1.SetMetaDataLabel(&n.ObjectMeta, v1alpha.LabelTopologyCity, f.cell.Labels[v1alpha.LabelTopologyCity])
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, v1alpha.AnnotationForget, "true")
	})
}

func (f *fixture) remember(t *testing.T) {
	t.Helper()
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: planes.ExecutionSpace(f.cell.Name)}}
	planes.Change(t, f.Planes, space, func(n *corev1.Namespace) { delete(n.Annotations, v1alpha.AnnotationForget) })
}

// TestForgetIsTheOperators: the annotation of a Cluster, which the agent of the cell may write, has no meaning.
func TestForgetIsTheOperators(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) {
		c.Annotations = map[string]string{v1alpha.AnnotationForget: "true"}
	})
	f.lose(t)
	f.reconcile(t)
	f.wantCondition(t, "")
	if !planes.Exists(t, f.Planes, f.ofNamespace) {
		t.Error("the agent of a cell had the Works of the cell deleted")
	}
	hub := f.reconciler.Cities.Hub(f.Hub)
	for _, want := range []bool{false, true} {
		if want {
			f.forget(t)
		}
		all, err := List(t.Context(), hub)
		if err != nil {
			t.Fatal(err)
		}
		if cell, _ := all.Find(f.cell.Name); cell.Gone != want {
			t.Errorf("the cell is gone: %t, want %t", cell.Gone, want)
		}
	}
}

func (f *fixture) lose(t *testing.T) {
	t.Helper()
	cluster := planes.Get(t, f.Planes, "", f.cell.Name, &clusterv1alpha1.Cluster{})
	f.SetReady(t, cluster, metav1.ConditionFalse, metav1.Now())
}

func (f *fixture) reconcile(t *testing.T) time.Duration {
	t.Helper()
	result, err := f.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(f.cell)})
	if err != nil {
		t.Fatal(err)
	}
	return result.RequeueAfter
}

// wantCondition checks the condition of the Cluster; reason "": no condition.
func (f *fixture) wantCondition(t *testing.T, reason string) {
	t.Helper()
	cluster := planes.Get(t, f.Planes, "", f.cell.Name, &clusterv1alpha1.Cluster{})
	got := meta.FindStatusCondition(cluster.Status.Conditions, v1alpha.ConditionComputeForgotten)
	switch {
	case reason == "" && got != nil:
		t.Errorf("the Cluster has the condition %+v", got)
	case reason != "" && (got == nil || got.Reason != reason || (got.Status == metav1.ConditionTrue) != (reason == v1alpha.ReasonForgotten)):
		t.Errorf("the condition is %+v, want reason %s", got, reason)
	}
}

func TestACellThatIsLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.lose(t)
	f.reconcile(t)
	if writes := f.Hub.Writes(); len(writes) > 0 {
		t.Errorf("it writes %v for a cell that is not forgotten", writes)
	}
	f.forget(t)
	if after := f.reconcile(t); after != dropInterval {
		t.Errorf("it is requeued after %s", after)
	}
	f.wantCondition(t, v1alpha.ReasonDropping)
	// Karmada deletes the Work of the deployment, and holds both Works until the cell answers.
	planes.Delete(t, f.Planes, f.ours)
	f.reconcile(t)
	if planes.Exists(t, f.Planes, f.ofNamespace) || planes.Exists(t, f.Planes, f.ours) {
		t.Error("a Work waits for the cell")
	}
	if after := f.reconcile(t); after != 0 {
		t.Errorf("it is requeued after %s with nothing left", after)
	}
	f.wantCondition(t, v1alpha.ReasonForgotten)
	if got := planes.Get(t, f.Planes, f.other.Namespace, "other", &workv1alpha1.Work{}); len(got.Finalizers) != 1 ||
		!got.DeletionTimestamp.IsZero() {
		t.Errorf("the Work of somebody else is %+v", got.ObjectMeta)
	}
	f.Hub.Calls()
	f.reconcile(t)
	if writes := f.Hub.Writes(); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
	f.remember(t)
	f.reconcile(t)
	f.wantCondition(t, "")
}

// TestACellThatIsReady: Karmada deletes the objects in the cell, as always.
func TestACellThatIsReady(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.forget(t)
	f.reconcile(t)
	f.reconcile(t)
	f.wantCondition(t, v1alpha.ReasonDraining)
	got := planes.Get(t, f.Planes, f.ofNamespace.Namespace, f.ofNamespace.Name, &workv1alpha1.Work{})
	if got.DeletionTimestamp.IsZero() || len(got.Finalizers) != 1 {
		t.Errorf("the Work of the namespace is %+v", got.ObjectMeta)
	}
}

func TestIsOurs(t *testing.T) {
	const uid = "83b43b77-d31f-4063-834c-d75e010dfdf2"
	tests := map[string]struct {
		label, annotation string
		want              bool
	}{
		"a hub namespace":      {label: "ns-" + uid, want: true},
		"in a hub namespace":   {annotation: "ns-" + uid, want: true},
		"nobody's":             {},
		"in a namespace":       {annotation: "ns-1"},
		"in a longer name":     {annotation: "ns-" + uid + "-x"},
		"in another namespace": {label: "default", annotation: "kube-system"},
		"the Cell, which the inventory keeps while the cell has a city": {label: "kube-system"},
	}
	for name, test := range tests {
		work := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
			Labels:      map[string]string{v1alpha.LabelHubNamespace: test.label},
			Annotations: map[string]string{workv1alpha2.ResourceBindingNamespaceAnnotationKey: test.annotation},
		}}
		if got := isOurs(work); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestConcerned(t *testing.T) {
	plain := &clusterv1alpha1.Cluster{}
	ready, annotated, unjoined := plain.DeepCopy(), plain.DeepCopy(), plain.DeepCopy()
	ready.Status.Conditions = []metav1.Condition{{Type: clusterv1alpha1.ClusterConditionReady, Status: metav1.ConditionTrue}}
	annotated.Annotations = map[string]string{"a": "b"}
	unjoined.DeletionTimestamp = new(metav1.Now())
	updates := map[string]struct {
		before, after *clusterv1alpha1.Cluster
		want          bool
	}{
		"nothing": {plain, plain, false}, "readiness": {plain, ready, true}, "an annotation": {plain, annotated, false},
		"unjoining": {plain, unjoined, true},
	}
	for name, test := range updates {
		if got := concerned().Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
			t.Errorf("an update of %s: %t", name, got)
		}
	}
	if !concerned().Create(event.CreateEvent{Object: plain}) || concerned().Delete(event.DeleteEvent{Object: plain}) {
		t.Error("a creation or deletion passes that should not, or the other way round")
	}
}
