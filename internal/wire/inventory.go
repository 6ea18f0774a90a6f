// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

const (
	// Buckets is the number of buckets into which the WorkloadDeployments and hub namespaces of a cell are divided. Hub
	// and cell must have the same.
	Buckets = 64
	// MaxEntries is how many entries a cell reports at most at once.
	MaxEntries = 500
)

// CellName is the name of the Cell of a hub.
func CellName(hubUID types.UID) string { return "hub-" + string(hubUID) }

// EntryOf is the entry of a WorkloadDeployment in a cell.
func EntryOf(d *v1alpha.WorkloadDeployment) v1alpha.InventoryEntry {
	return v1alpha.InventoryEntry{
		Namespace:        d.Namespace,
		Name:             d.Name,
		TemplateUID:      types.UID(d.Annotations[v1alpha.AnnotationTemplateUID]),
		Project:          d.Annotations[v1alpha.AnnotationProjectName],
		ProjectUID:       types.UID(d.Labels[v1alpha.LabelProjectUID]),
		ProjectNamespace: d.Labels[v1alpha.LabelProjectNamespace],
		DeploymentUID:    types.UID(d.Labels[v1alpha.LabelDeploymentUID]),
	}
}

// NamespaceEntry is the entry of a hub namespace in a cell.
func NamespaceEntry(namespace metav1.Object) v1alpha.InventoryEntry {
	return v1alpha.InventoryEntry{
		Namespace:        namespace.GetName(),
		Project:          namespace.GetAnnotations()[v1alpha.AnnotationProjectName],
		ProjectUID:       types.UID(namespace.GetLabels()[v1alpha.LabelProjectUID]),
		ProjectNamespace: namespace.GetLabels()[v1alpha.LabelProjectNamespace],
	}
}

// NamespaceKey is the key of a hub namespace in an inventory.
func NamespaceKey(hubNamespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: hubNamespace}
}

// maxEntryText is the longest text of an entry, in bytes: no name or value of a label is longer.
const maxEntryText = 512

// Valid reports whether an entry may describe an object that a hub sent: it is in a hub namespace or is one, and its
// texts are bounded.
func Valid(e *v1alpha.InventoryEntry) bool {
	for _, text := range []string{
		e.Namespace, e.Name, string(e.TemplateUID), e.Project, string(e.ProjectUID), e.ProjectNamespace, string(e.DeploymentUID),
	} {
		if len(text) > maxEntryText {
			return false
		}
	}
	return naming.IsHubNamespace(e.Namespace)
}

// Bucket is the bucket of a WorkloadDeployment or hub namespace: the same on the hub and in the cell, whatever its UID.
func Bucket(deployment types.NamespacedName) int32 {
	hasher := fnv.New32a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write([]byte(deployment.String()))
	return int32(hasher.Sum32() % Buckets)
}

// Inventory sums up which WorkloadDeployments and hub namespaces exist, in any order. The zero value is empty. It is
// for one goroutine.
type Inventory struct {
	// Total is how many have been added.
	Total  int32
	sums   [Buckets]uint64
	counts [Buckets]int
}

// Add adds a WorkloadDeployment with the UID of the hub's copy, or a hub namespace without a UID.
func (i *Inventory) Add(deployment types.NamespacedName, templateUID types.UID) {
	hasher := fnv.New64a()
	_, _ = hasher.Write([]byte(deployment.String() + "/" + string(templateUID)))
	i.Total++
	bucket := Bucket(deployment)
	i.sums[bucket] += hasher.Sum64()
	i.counts[bucket]++
}

// Digests are the digests of all buckets.
func (i *Inventory) Digests() []string {
	digests := make([]string, Buckets)
	for bucket, count := range i.counts {
		if count > 0 {
			digests[bucket] = fmt.Sprintf("%d-%016x", count, i.sums[bucket])
		}
	}
	return digests
}

// CompareEntries orders entries by namespace and name.
func CompareEntries(a, b v1alpha.InventoryEntry) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// NewCellStatus is the status of a cell that has the WorkloadDeployments and hub namespaces of entries. It sorts
// entries.
func NewCellStatus(cell *v1alpha.Cell, entries []v1alpha.InventoryEntry) v1alpha.CellStatus {
	status := v1alpha.CellStatus{ObservedGeneration: cell.Generation, Listed: slices.Sorted(slices.Values(cell.Spec.List))}
	slices.SortFunc(entries, CompareEntries)
	inventory, namespaces := Inventory{}, int32(0)
	for i := range entries {
		if entries[i].IsNamespace() {
			namespaces++
		}
		inventory.Add(entries[i].Key(), entries[i].TemplateUID)
		if !slices.Contains(status.Listed, Bucket(entries[i].Key())) {
			continue
		}
		if len(status.Entries) < MaxEntries {
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
