// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells_test

import (
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestCordons: the condition of a Cluster follows its cell's report of its Nodes; without a report it does not change.
func TestCordons(t *testing.T) {
	p := planes.New(t)
	planes.Create(t, p, cluster("cordoned", "DFW"))
	planes.Create(t, p, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "karmada-es-cordoned"}})
	work := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: "karmada-es-cordoned", Name: "cell", Labels: map[string]string{v1alpha.LabelInventory: v1alpha.InventoryCell},
	}}
	work.Spec.Workload.Manifests = []workv1alpha1.Manifest{
		{RawExtension: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"any"}}`)}},
	}
	planes.Create(t, p, work)
	r := &cells.Cordons{Hub: p.Hub, Reader: p.HubAPI, Clock: testingclock.NewFakePassiveClock(time.Now())}
	for _, test := range []struct {
		name, report string
		want         metav1.ConditionStatus
		writes       int
	}{
		{"no report", "", "", 0},
		{"an agent that reads no Nodes", `{"total":3}`, "", 0},
		{"one Node takes Pods", `{"cordoned":false}`, metav1.ConditionTrue, 1},
		{"again", `{"cordoned":false,"total":3}`, metav1.ConditionTrue, 0},
		{"all are cordoned", `{"cordoned":true}`, metav1.ConditionFalse, 1},
		{"garbled", `{"cordoned":"no"}`, metav1.ConditionFalse, 0},
		{"one was uncordoned", `{"cordoned":false}`, metav1.ConditionTrue, 1},
	} {
		if test.report != "" {
			planes.ChangeStatus(t, p, work, func(w *workv1alpha1.Work) {
				w.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Raw: []byte(test.report)}}}
			})
		}
		p.Hub.Writes()
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "cordoned"}}); err != nil {
			t.Fatal(err)
		}
		writes := len(p.Hub.Writes())
		found := &clusterv1alpha1.Cluster{}
		if err := p.Client.Get(t.Context(), client.ObjectKey{Name: "cordoned"}, found); err != nil {
			t.Fatal(err)
		}
		got := metav1.ConditionStatus("")
		if c := meta.FindStatusCondition(found.Status.Conditions, v1alpha.ConditionComputeNodesSchedulable); c != nil {
			got = c.Status
		}
		if got != test.want || writes != test.writes {
			t.Errorf("%s: the condition is %q after %d writes, want %q", test.name, got, writes, test.want)
		}
	}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "none"}}); err != nil {
		t.Error(err)
	}
}
