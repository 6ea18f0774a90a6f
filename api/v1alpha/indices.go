// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"math/bits"
	"strconv"
	"strings"
)

// maxIndex is the highest index that an IndexRange may have.
const maxIndex = 9999

// FormatIndices are indices, in any order, as text: "0-4,7".
func FormatIndices(indices []int) string {
	var text strings.Builder
	for _, r := range IndexRanges(indices) {
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

// maxIndicesText is the longest text with indices that is read, in bytes: as long as the schema allows.
const maxIndicesText = 32768

// indexSet is a set of indices from 0 to maxIndex. It has the same size whatever is added to it.
type indexSet [maxIndex/64 + 1]uint64

// add adds all indices from first to last that a set can have.
func (s *indexSet) add(first, last int) {
	first, last = max(first, 0), min(last, maxIndex)
	for first <= last {
		word, from := first/64, first%64
		to := min(last-word*64, 63)
		s[word] |= (^uint64(0) >> (63 - to + from)) << from
		first = (word + 1) * 64
	}
}

// has reports whether the set has an index.
func (s *indexSet) has(index int) bool {
	return index >= 0 && index <= maxIndex && s[index/64]&(1<<(index%64)) != 0
}

// indices returns what the set has, ascending.
func (s *indexSet) indices() []int {
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

// parseSet reads text as ParseIndices does.
func parseSet(text string) *indexSet {
	set := &indexSet{}
	for part := range strings.SplitSeq(text[:min(len(text), maxIndicesText)], ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 16)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(to, 10, 16)
		}
		if err == nil && first <= last && last <= maxIndex {
			set.add(int(first), int(last))
		}
	}
	return set
}

// ParseIndices is the inverse of FormatIndices, ascending. The text comes from a cell: what is not a range is left out, and what it
// returns is bounded whatever the text is.
func ParseIndices(text string) []int { return parseSet(text).indices() }

// HasIndex reports whether an index is among those that ParseIndices reads from text.
func HasIndex(text string, index int) bool { return parseSet(text).has(index) }

// InstanceFacts is what CellIndices say of one Instance.
//
// +kubebuilder:object:generate=false
type InstanceFacts struct {
	// Cell that reports it.
	Cell string
	// Ready says that it is Ready, Available that it has been for minReadySeconds, and Held that it waits for quota.
	Ready, Available, Held bool
	// TemplateHash is the hash of the template that it was created from; "" for an earlier template than that of its deployment.
	TemplateHash string
}

// InstanceFacts are the facts of all Instances that cells report of a deployment, by index. Of a cell only those count that the
// deployment may have and that are not assigned to another cell.
func (d *WorkloadDeployment) InstanceFacts() map[int]InstanceFacts {
	facts := map[int]InstanceFacts{}
	own := d.ownership()
	for i := range d.Status.Indices {
		of := &d.Status.Indices[i]
		existing, ready, held, current := parseSet(of.Existing), parseSet(of.Ready), parseSet(of.Held), parseSet(of.Current)
		available := parseSet(of.AvailableIndices)
		for _, index := range existing.indices() {
			if _, seen := facts[index]; seen || !own.counts(of.Cell, index) {
				continue
			}
			fact := InstanceFacts{Cell: of.Cell, Ready: ready.has(index), Available: available.has(index), Held: held.has(index)}
			if current.has(index) {
				fact.TemplateHash = of.TemplateHash
			}
			facts[index] = fact
		}
	}
	return facts
}

// HighestReported is the highest index that cells report of a deployment, whoever it is assigned to; -1: none.
func (d *WorkloadDeployment) HighestReported() int {
	highest := -1
	for i := range d.Status.Indices {
		// The text is ascending.
		existing := d.Status.Indices[i].Existing
		for _, index := range ParseIndices(existing[strings.LastIndexByte(existing, ',')+1:]) {
			highest = max(highest, index)
		}
	}
	return highest
}
