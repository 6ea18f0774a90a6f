// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestCityOfAnAgent: a Cluster that the agent of another cell has made gets nothing of the city whose label it has,
// whether the city has another cell or none.
func TestCityOfAnAgent(t *testing.T) {
	f := newFixture(t)
	f.LiftLimits()
	cities := &cells.Cities{Namespaces: f.HubAPI, APIReader: f.HubAPI, Writer: f.Hub}
	confirmations := &cells.Confirmations{Cities: cities, Hub: f.Hub, Clock: f.clock}
	f.reconciler.Hub = cities.Hub(f.Hub)
	confirm := func(name string) {
		t.Helper()
		if _, err := confirmations.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	confirm(f.cell.Name)
	agent := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "system:karmada:" + f.cell.Name + ":agent"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "any"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "system:karmada:agent:" + f.cell.Name}},
	}
	planes.Create(t, f.Planes, agent)
	t.Cleanup(func() {
		if err := f.Client.Delete(context.Background(), agent); err != nil {
			t.Error(err)
		}
	})
	invented := f.Cell(t, f.city)
	confirm(invented.Name)
	chosen := func(why string, want ...string) {
		t.Helper()
		f.mustReconcile(t, "web")
		affinity := read(t, f, f.policy()).Spec.Placement.ClusterAffinity
		if affinity == nil {
			affinity = &read(t, f, f.policy()).Spec.Placement.ClusterAffinities[0].ClusterAffinity
		}
		selector, err := metav1.LabelSelectorAsSelector(affinity.LabelSelector)
		if err != nil {
			t.Fatal(err)
		}
		// Without names, Karmada takes every Cluster of the label.
		selects := selector.Matches(labels.Set(invented.Labels))
		if !slices.Equal(affinity.ClusterNames, want) || selects != (len(want) > 0) {
			t.Errorf("%s: the policy names %v, want %v; it selects the label: %t", why, affinity.ClusterNames, want, selects)
		}
	}
	chosen("the city has a cell", f.cell.Name)
	planes.Change(t, f.Planes, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: planes.ExecutionSpace(f.cell.Name)}},
		func(n *corev1.Namespace) { delete(n.Labels, v1alpha.LabelTopologyCity) })
	chosen("no Cluster is confirmed")
}
