// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cellreport"
)

// maxAsked limits the buckets that a cell is asked about at once, so that its answer stays small.
const maxAsked = 4

// cellState is the state of a cell across passes.
type cellState struct {
	// differs is the time since which each bucket has differed.
	differs map[int32]time.Time
	// unexpected are the deployments that should not be in the cell, and missing the deployments that should.
	unexpected map[v1alpha.InventoryEntry]*suspect
	missing    map[types.NamespacedName]*suspect
	// asked are the leaving deployments that the cell is asked about.
	asked map[v1alpha.LeavingDeployment]bool
}

// suspect is a deployment about which a cell and the hub disagree.
type suspect struct {
	// since is when the disagreement began.
	since time.Time
	// next is when to check the deployment again.
	next time.Time
	// gone is when the project first reported that it does not have the deployment; zero: it has not.
	gone time.Time
}

func newCellState() *cellState {
	return &cellState{
		differs: map[int32]time.Time{}, unexpected: map[v1alpha.InventoryEntry]*suspect{}, missing: map[types.NamespacedName]*suspect{},
	}
}

// compare updates differs from a report.
func (s *cellState) compare(report *v1alpha.CellStatus, expected map[types.NamespacedName]types.UID, now time.Time) {
	wanted := cellreport.Inventory{}
	for key, uid := range expected {
		wanted.Add(key, uid)
	}
	for number, digest := range wanted.Digests() {
		bucket := int32(number)
		switch _, known := s.differs[bucket]; {
		case report.Digests[number] == digest:
			delete(s.differs, bucket)
		case !known:
			s.differs[bucket] = now
		}
	}
}

// ask returns the buckets that have differed for at least after; if there are too many, the ones that have differed
// longest.
func (s *cellState) ask(now time.Time, after time.Duration) []int32 {
	var buckets []int32
	for bucket, since := range s.differs {
		if now.Sub(since) >= after {
			buckets = append(buckets, bucket)
		}
	}
	slices.SortFunc(buckets, func(a, b int32) int { return cmp.Or(s.differs[a].Compare(s.differs[b]), cmp.Compare(a, b)) })
	buckets = buckets[:min(len(buckets), maxAsked)]
	slices.Sort(buckets)
	return buckets
}

// suspects updates the suspects from a report's entries. A deployment that the cell has from an earlier copy is
// missing, not unexpected: Karmada overwrites it with the new one.
func (s *cellState) suspects(report *v1alpha.CellStatus, expected map[types.NamespacedName]types.UID, now time.Time) {
	unexpected, missing := map[v1alpha.InventoryEntry]*suspect{}, map[types.NamespacedName]*suspect{}
	has := map[types.NamespacedName]types.UID{}
	for _, entry := range report.Entries {
		has[entry.Key()] = entry.TemplateUID
		if _, is := expected[entry.Key()]; !is {
			unexpected[entry] = known(s.unexpected[entry], now)
		}
	}
	for key, uid := range expected {
		found, there := has[key]
		listed := there || !report.Truncated && slices.Contains(report.Listed, cellreport.Bucket(key))
		if listed && (!there || found != uid) {
			missing[key] = known(s.missing[key], now)
		}
	}
	s.unexpected, s.missing = unexpected, missing
}

func known(before *suspect, now time.Time) *suspect {
	if before != nil {
		return before
	}
	return &suspect{since: now}
}
