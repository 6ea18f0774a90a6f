// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

type inInventory struct {
	name string
	uid  types.UID
}

func digests(deployments ...inInventory) []string {
	inventory := wire.Inventory{}
	for _, d := range deployments {
		inventory.Add(types.NamespacedName{Namespace: "ns-a", Name: d.name}, d.uid)
	}
	return inventory.Digests()
}

func TestDigests(t *testing.T) {
	tests := map[string]struct {
		a, b []inInventory
		same bool
	}{
		"in another order":   {[]inInventory{{"a", "1"}, {"b", "2"}}, []inInventory{{"b", "2"}, {"a", "1"}}, true},
		"both empty":         {nil, nil, true},
		"one less":           {[]inInventory{{"a", "1"}, {"b", "2"}}, []inInventory{{"a", "1"}}, false},
		"another UID":        {[]inInventory{{"a", "1"}}, []inInventory{{"a", "2"}}, false},
		"another name":       {[]inInventory{{"a", "1"}}, []inInventory{{"b", "1"}}, false},
		"the same one twice": {[]inInventory{{"a", "1"}, {"a", "1"}}, nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := digests(test.a...), digests(test.b...)
			if len(a) != wire.Buckets || slices.Equal(a, b) != test.same {
				t.Errorf("digests %q and %q", a, b)
			}
		})
	}
}

// TestNamespacesInInventory: a hub namespace changes the digests and is not counted as a WorkloadDeployment. The number
// of namespaces shows that they are included.
func TestNamespacesInInventory(t *testing.T) {
	key := wire.NamespaceKey("ns-a")
	entries := []v1alpha.InventoryEntry{{Namespace: "ns-a"}, {Namespace: "ns-a", Name: "web"}}
	asked := &v1alpha.Cell{Spec: v1alpha.CellSpec{Namespaces: true, List: []int32{wire.Bucket(key)}}}
	status := wire.NewCellStatus(asked, entries)
	if status.Total != 1 || status.Namespaces == nil || *status.Namespaces != 1 ||
		!slices.Contains(status.Entries, entries[0]) || entries[0].Key() != key {
		t.Errorf("status %+v", status)
	}
	without := wire.NewCellStatus(&v1alpha.Cell{}, entries[1:])
	if without.Namespaces != nil || slices.Equal(without.Digests, status.Digests) {
		t.Errorf("status %+v", without)
	}
}

func TestCellStatusIsBounded(t *testing.T) {
	var all []int32
	for bucket := range int32(wire.Buckets) {
		all = append(all, bucket)
	}
	entries := make([]v1alpha.InventoryEntry, wire.MaxEntries+1)
	for i := range entries {
		entries[i] = v1alpha.InventoryEntry{Namespace: "ns-a", Name: fmt.Sprintf("web-%d", i)}
	}
	tests := map[string]struct {
		list          []int32
		entries       int
		wantEntries   int
		wantTruncated bool
	}{
		"nothing is listed unless it is asked for": {entries: 10},
		"all that is asked for":                    {list: all, entries: wire.MaxEntries, wantEntries: wire.MaxEntries},
		"more than fits":                           {list: all, entries: wire.MaxEntries + 1, wantEntries: wire.MaxEntries, wantTruncated: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status := wire.NewCellStatus(&v1alpha.Cell{Spec: v1alpha.CellSpec{List: test.list}}, slices.Clone(entries[:test.entries]))
			if int(status.Total) != test.entries || len(status.Entries) != test.wantEntries || status.Truncated != test.wantTruncated {
				t.Errorf("total %d, %d entries, truncated %t", status.Total, len(status.Entries), status.Truncated)
			}
		})
	}
}
