// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/cell/collector"
)

// TestInventoryOfCordons: a cell reports that all of its Nodes are cordoned. A cell without Nodes has no resources,
// which Karmada detects itself.
func TestInventoryOfCordons(t *testing.T) {
	f := newFixture(t)
	cell := f.cell(types.UID(f.namespace + "-hub"))
	var unschedulable []bool
	r := collector.New(interceptor.NewClient(f.cached, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			nodes, ok := list.(*corev1.NodeList)
			if !ok {
				return c.List(ctx, list, opts...)
			}
			for _, one := range unschedulable {
				nodes.Items = append(nodes.Items, corev1.Node{Spec: corev1.NodeSpec{Unschedulable: one}})
			}
			return nil
		},
	}), f.direct, f.clock)
	for i, test := range []struct {
		unschedulable []bool
		want          bool
	}{
		{nil, false}, {[]bool{true, false}, false}, {[]bool{true}, true}, {[]bool{false}, false},
	} {
		unschedulable = test.unschedulable
		f.clock.SetTime(now.Add(time.Duration(i) * time.Minute))
		if got := f.takeInventory(r, cell).Cordoned; got == nil || *got != test.want {
			t.Errorf("with Nodes %v it reports %v", test.unschedulable, got)
		}
	}
}
