// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// MaxIndex is the highest index that an IndexRange may have.
const MaxIndex = 9999

// Format are indices, in any order, as text: "0-4,7".
func Format(indices []int) string {
	var text strings.Builder
	for _, r := range Ranges(indices) {
		if text.Len() > 0 {
			text.WriteByte(',')
		}
		text.WriteString(strconv.Itoa(int(r.First)))
		if r.Last > r.First {
			text.WriteByte('-')
			text.WriteString(strconv.Itoa(int(r.Last)))
		}
	}
	return text.String()
}

// maxText is the longest text with indices that is read, in bytes: as long as the schema allows.
const maxText = 32768

// Set is a set of indices from 0 to MaxIndex. It has the same size whatever is added to it.
type Set [MaxIndex/64 + 1]uint64

// Add adds all indices from first to last that a set can have.
func (s *Set) Add(first, last int) {
	first, last = max(first, 0), min(last, MaxIndex)
	for first <= last {
		word, from := first/64, first%64
		end := min(last-word*64, 63)
		s[word] |= (^uint64(0) >> (63 - end + from)) << from
		first = (word + 1) * 64
	}
}

// Has reports whether the set has an index.
func (s *Set) Has(index int) bool {
	return index >= 0 && index <= MaxIndex && s[index/64]&(1<<(index%64)) != 0
}

// Indices returns the indices of the set, ascending.
func (s *Set) Indices() []int {
	count := 0
	for _, word := range s {
		count += bits.OnesCount64(word)
	}
	if count == 0 {
		return nil
	}
	indices := make([]int, 0, count)
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			indices = append(indices, i*64+bits.TrailingZeros64(word))
		}
	}
	return indices
}

// ParseSet reads text as Parse does.
func ParseSet(text string) *Set {
	set := &Set{}
	for part := range strings.SplitSeq(text[:min(len(text), maxText)], ",") {
		from, target, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 16)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(target, 10, 16)
		}
		if err == nil && first <= last && last <= MaxIndex {
			set.Add(int(first), int(last))
		}
	}
	return set
}

// Parse is the inverse of Format, ascending. The text comes from a cell: parts that are not ranges are dropped, and the
// result is bounded whatever the text is.
func Parse(text string) []int { return ParseSet(text).Indices() }

// Contains reports whether text lists an index, in the form that Parse reads.
func Contains(text string, index int) bool { return ParseSet(text).Has(index) }

// Desired are the indices of the desired Instances in the cell that has this deployment, ascending.
func Desired(d *v1alpha.WorkloadDeployment) []int {
	least, limit := ReplicaBounds(d)
	desired := least
	if d.Spec.Replicas != nil {
		desired = max(least, min(limit, int(*d.Spec.Replicas)))
	}
	if d.Spec.Assignment == nil {
		indices := make([]int, desired)
		for i := range indices {
			indices[i] = i
		}
		return indices
	}
	return Assigned(d.Spec.Assignment, d.Cell())[:desired]
}

// ReplicaBounds are how many Instances run in the cell that has this deployment, at least and at most. They differ only
// where an autoscaler decides (Autoscaled).
func ReplicaBounds(d *v1alpha.WorkloadDeployment) (least, limit int) {
	least = int(d.Spec.ScaleSettings.MinReplicas)
	limit = least
	if d.Spec.Autoscaled() {
		limit = int(*d.Spec.ScaleSettings.MaxReplicas)
	}
	if d.Spec.Assignment == nil {
		return least, limit
	}
	cell := d.Cell()
	limit = min(limit, len(Assigned(d.Spec.Assignment, cell)))
	for i := range d.Spec.Assignment.Cells {
		if own := &d.Spec.Assignment.Cells[i]; own.Name == cell && own.MinReplicas != nil {
			least = int(*own.MinReplicas)
		}
	}
	return min(least, limit), limit
}

// Assigned are the indices that a cell may use, ascending.
func Assigned(a *v1alpha.WorkloadDeploymentAssignment, cell string) []int {
	for i := range a.Cells {
		if a.Cells[i].Name == cell {
			return OfRanges(a.Cells[i].Indices)
		}
	}
	return nil
}

// Releasing are the indices that a cell may no longer use but has not released yet, ascending.
func Releasing(a *v1alpha.WorkloadDeploymentAssignment, cell string) []int {
	for i := range a.Cells {
		if a.Cells[i].Name == cell {
			return OfRanges(a.Cells[i].Releasing)
		}
	}
	return nil
}

// OfRanges are the indices in ranges, ascending.
func OfRanges(ranges []v1alpha.IndexRange) []int { return SetOf(ranges).Indices() }

// SetOf is the set of the indices in ranges.
func SetOf(ranges []v1alpha.IndexRange) *Set {
	set := &Set{}
	for _, r := range ranges {
		set.Add(int(r.First), int(r.Last))
	}
	return set
}

// Ranges are indices, in any order, as ranges.
func Ranges(indices []int) []v1alpha.IndexRange {
	var result []v1alpha.IndexRange
	for _, index := range slices.Compact(slices.Sorted(slices.Values(indices))) {
		i := int32(index) //nolint:gosec // an index is at most a few thousand
		if last := len(result) - 1; last >= 0 && result[last].Last == i-1 {
			result[last].Last = i
		} else {
			result = append(result, v1alpha.IndexRange{First: i, Last: i})
		}
	}
	return result
}

// InRanges reports whether an index is in one of the ranges.
func InRanges(ranges []v1alpha.IndexRange, index int) bool {
	for _, r := range ranges {
		if index >= int(r.First) && index <= int(r.Last) {
			return true
		}
	}
	return false
}
