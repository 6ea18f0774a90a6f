// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package choice

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// MaxHistory bounds the snapshots of a namespace that only the history of its Workloads needs.
	MaxHistory = 200
	// MaxHistoryBytes bounds their size together.
	MaxHistoryBytes = 4 << 20
)

// Revision is the data of a revision of a Workload.
type Revision struct {
	Workload types.UID
	Number   int64
	// Complete: it is the last one that all Instances have had.
	Complete bool
	Data     []v1alpha.DataVersion
	// age is how many revisions of the Workload are newer.
	age int
}

// Snapshots are snapshots that no deployment and no choice needs, by keys that the caller gives them: their sizes.
type Snapshots[K comparable] struct {
	Bytes map[K]int
	// Of returns the keys of a content.
	Of func(v1alpha.DataVersion) []K
}

// Keep calls keep with each snapshot that the history needs, and with the Workload, until a bound is reached. The last
// complete revisions have all of theirs; then come the newest revision of each Workload, the second newest one, and so
// on.
func Keep[K comparable](history []Revision, left Snapshots[K], keep func(K, types.UID)) {
	count, bytes, kept := 0, 0, map[K]bool{}
	for _, r := range Ordered(history) {
		for _, version := range r.Data {
			for _, key := range left.Of(version) {
				size, exists := left.Bytes[key]
				if !exists {
					continue
				}
				if !kept[key] {
					count, bytes = count+1, bytes+size
				}
				if (count > MaxHistory || bytes > MaxHistoryBytes) && !r.Complete {
					return
				}
				kept[key] = true
				keep(key, r.Workload)
			}
		}
	}
}

// Ordered returns the complete revisions first, then the newest one of each Workload, the second newest one, and so
// on: a Workload with a long history leaves the others their share.
func Ordered(history []Revision) []Revision {
	history = slices.Clone(history)
	slices.SortFunc(history, func(a, b Revision) int {
		return cmp.Or(cmp.Compare(a.Workload, b.Workload), cmp.Compare(b.Number, a.Number))
	})
	for i := range history {
		if history[i].age = 0; i > 0 && history[i].Workload == history[i-1].Workload {
			history[i].age = history[i-1].age + 1
		}
	}
	rank := func(r Revision) int {
		if r.Complete {
			return -1
		}
		return r.age
	}
	slices.SortStableFunc(history, func(a, b Revision) int { return rank(a) - rank(b) })
	return history
}
