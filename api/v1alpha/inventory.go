// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// InventoryBuckets is the number of buckets into which the WorkloadDeployments of a cell are divided. Hub and cell must have
	// the same.
	InventoryBuckets = 64
	// InventoryEntries is how many entries a cell reports at most at once.
	InventoryEntries = 500
)

// CellName is the name of the Cell of a hub.
func CellName(hubUID types.UID) string { return "hub-" + string(hubUID) }

// Entry is the entry of a WorkloadDeployment in a cell.
func (d *WorkloadDeployment) Entry() InventoryEntry {
	return InventoryEntry{
		Namespace:        d.Namespace,
		Name:             d.Name,
		TemplateUID:      types.UID(d.Annotations[AnnotationTemplateUID]),
		Project:          d.Annotations[AnnotationProjectName],
		ProjectUID:       types.UID(d.Labels[LabelProjectUID]),
		ProjectNamespace: d.Labels[LabelProjectNamespace],
		DeploymentUID:    types.UID(d.Labels[LabelDeploymentUID]),
	}
}

// Key is the namespace and name of the WorkloadDeployment.
func (e *InventoryEntry) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: e.Namespace, Name: e.Name}
}

// maxEntryText is the longest text of an entry, in bytes: no name or value of a label is longer.
const maxEntryText = 512

// Valid reports whether an entry may be of a WorkloadDeployment that a hub sent: it is in a hub namespace, and its texts are bounded.
func (e *InventoryEntry) Valid() bool {
	for _, text := range []string{e.Namespace, e.Name, string(e.TemplateUID), e.Project, string(e.ProjectUID), e.ProjectNamespace, string(e.DeploymentUID)} {
		if len(text) > maxEntryText {
			return false
		}
	}
	return IsHubNamespace(e.Namespace) && e.Name != ""
}

// InventoryBucket is the bucket of a WorkloadDeployment: the same on the hub and in the cell, whatever its UID.
func InventoryBucket(deployment types.NamespacedName) int32 {
	hasher := fnv.New32a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write([]byte(deployment.String()))
	return int32(hasher.Sum32() % InventoryBuckets)
}

// Inventory sums up which WorkloadDeployments there are, in any order. The zero value is empty. It is for one goroutine.
//
// +kubebuilder:object:generate=false
type Inventory struct {
	// Total is how many have been added.
	Total  int32
	sums   [InventoryBuckets]uint64
	counts [InventoryBuckets]int
}

// Add adds a WorkloadDeployment of which the hub's copy has a UID.
func (i *Inventory) Add(deployment types.NamespacedName, templateUID types.UID) {
	hasher := fnv.New64a()
	_, _ = hasher.Write([]byte(deployment.String() + "/" + string(templateUID)))
	i.Total++
	bucket := InventoryBucket(deployment)
	i.sums[bucket] += hasher.Sum64()
	i.counts[bucket]++
}

// Digests are the digests of all buckets.
func (i *Inventory) Digests() []string {
	digests := make([]string, InventoryBuckets)
	for bucket, count := range i.counts {
		if count > 0 {
			digests[bucket] = fmt.Sprintf("%d-%016x", count, i.sums[bucket])
		}
	}
	return digests
}

// CompareEntries orders entries by namespace and name.
func CompareEntries(a, b InventoryEntry) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// NewCellStatus is the status of a cell that has the WorkloadDeployments of entries. It sorts entries.
func NewCellStatus(cell *Cell, entries []InventoryEntry) CellStatus {
	status := CellStatus{ObservedGeneration: cell.Generation, Listed: slices.Sorted(slices.Values(cell.Spec.List))}
	slices.SortFunc(entries, CompareEntries)
	inventory := Inventory{}
	for i := range entries {
		inventory.Add(entries[i].Key(), entries[i].TemplateUID)
		if !slices.Contains(status.Listed, InventoryBucket(entries[i].Key())) {
			continue
		}
		if len(status.Entries) < InventoryEntries {
			status.Entries = append(status.Entries, entries[i])
		} else {
			status.Truncated = true
		}
	}
	status.Total, status.Digests = inventory.Total, inventory.Digests()
	return status
}
