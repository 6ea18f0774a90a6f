// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// InventoryBuckets is the number of buckets into which the WorkloadDeployments and hub namespaces of a cell are divided. Hub and cell must have
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

// NamespaceEntry is the entry of a hub namespace in a cell.
func NamespaceEntry(namespace metav1.Object) InventoryEntry {
	return InventoryEntry{
		Namespace:        namespace.GetName(),
		Project:          namespace.GetAnnotations()[AnnotationProjectName],
		ProjectUID:       types.UID(namespace.GetLabels()[LabelProjectUID]),
		ProjectNamespace: namespace.GetLabels()[LabelProjectNamespace],
	}
}

// NamespaceKey is the key of a hub namespace in an inventory.
func NamespaceKey(hubNamespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: hubNamespace}
}

// IsNamespace reports whether the entry is about a hub namespace, and not about a WorkloadDeployment in one.
func (e *InventoryEntry) IsNamespace() bool { return e.Name == "" }

// Key is the namespace and name of the WorkloadDeployment, or the NamespaceKey.
func (e *InventoryEntry) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: e.Namespace, Name: e.Name}
}

// maxEntryText is the longest text of an entry, in bytes: no name or value of a label is longer.
const maxEntryText = 512

// Valid reports whether an entry may be of something that a hub sent: it is in a hub namespace or is one, and its texts are bounded.
func (e *InventoryEntry) Valid() bool {
	for _, text := range []string{e.Namespace, e.Name, string(e.TemplateUID), e.Project, string(e.ProjectUID), e.ProjectNamespace, string(e.DeploymentUID)} {
		if len(text) > maxEntryText {
			return false
		}
	}
	return IsHubNamespace(e.Namespace)
}

// InventoryBucket is the bucket of a WorkloadDeployment or hub namespace: the same on the hub and in the cell, whatever its UID.
func InventoryBucket(deployment types.NamespacedName) int32 {
	hasher := fnv.New32a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write([]byte(deployment.String()))
	return int32(hasher.Sum32() % InventoryBuckets)
}

// Inventory sums up which WorkloadDeployments and hub namespaces exist, in any order. The zero value is empty. It is for one goroutine.
//
// +kubebuilder:object:generate=false
type Inventory struct {
	// Total is how many have been added.
	Total  int32
	sums   [InventoryBuckets]uint64
	counts [InventoryBuckets]int
}

// Add adds a WorkloadDeployment of which the hub's copy has a UID, or a hub namespace without one.
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

// NewCellStatus is the status of a cell that has the WorkloadDeployments and hub namespaces of entries. It sorts entries.
func NewCellStatus(cell *Cell, entries []InventoryEntry) CellStatus {
	status := CellStatus{ObservedGeneration: cell.Generation, Listed: slices.Sorted(slices.Values(cell.Spec.List))}
	slices.SortFunc(entries, CompareEntries)
	inventory, namespaces := Inventory{}, int32(0)
	for i := range entries {
		if entries[i].IsNamespace() {
			namespaces++
		}
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
	status.Total, status.Digests = inventory.Total-namespaces, inventory.Digests()
	if cell.Spec.Namespaces {
		status.Namespaces = &namespaces
	}
	return status
}
