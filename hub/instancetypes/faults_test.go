// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instancetypes

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestTypesWithAFault: a hub gets its first type, deprecations get their time, and projects get the types, whichever
// write fails.
func TestTypesWithAFault(t *testing.T) {
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		p := planes.New(t)
		deleteAll(t, p)
		p.Hub.Through(faults)
		p.Project.Through(faults)
		catalogue, made := newCatalogue(t, p), false
		tend := func() {
			for range 3 {
				made = catalogue.tend(t.Context(), made)
			}
		}
		tend()
		first := First()
		if !planes.Exists(t, p, first) {
			t.Fatal("the hub has no type")
		}
		planes.Change(t, p, first, func(kind *v1alpha.InstanceType) { kind.Spec.Lifecycle.Phase = v1alpha.InstanceTypeDeprecated })
		tend()
		planes.Get(t, p, "", first.Name, first)
		if first.Status.DeprecatedAt == nil {
			t.Error("the deprecation has no time")
		}
		planes.Delete(t, p, first)
		tend()
		if planes.Exists(t, p, First()) {
			t.Error("a type that an operator has deleted is created again")
		}

		// Hub and project are one API server: the types of the hub are the types that the catalogue knows.
		a, b := *newType("a", "1"), *newType("b", "2")
		a.Spec.Lifecycle.Phase, b.Spec.Lifecycle.Phase = v1alpha.InstanceTypeActive, v1alpha.InstanceTypeActive
		planes.Create(t, p, newType("own", "1"))
		catalogue.remember([]v1alpha.InstanceType{a, b}, nil)
		reconciler := &Reconciler{Projects: p, Types: catalogue}
		faults.Reconcile(t, func() error {
			_, err := reconciler.Reconcile(t.Context(), mcreconcile.Request{ClusterName: planes.ProjectName})
			return err
		})
		var left v1alpha.InstanceTypeList
		if err := p.Client.List(t.Context(), &left, &client.ListOptions{}); err != nil || names(left.Items) != "a b" {
			t.Errorf("the project has %s, %v", names(left.Items), err)
		}
	})
}
