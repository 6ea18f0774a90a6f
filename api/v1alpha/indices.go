// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// ParseIndices is the inverse of FormatIndices, ascending. It leaves out what is no range: the text comes from a cell.
func ParseIndices(text string) []int {
	var ranges []IndexRange
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 16)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(to, 10, 16)
		}
		if err == nil && first <= last && last <= maxIndex {
			ranges = append(ranges, IndexRange{First: int32(first), Last: int32(last)})
		}
	}
	return indicesOf(ranges)
}

// InstanceFacts is what CellIndices say of one Instance.
//
// +kubebuilder:object:generate=false
type InstanceFacts struct {
	// Cell that reports it; "" where an agent of an earlier version does.
	Cell string
	// Ready says that it is Ready, and Held that it waits for quota.
	Ready, Held bool
	// TemplateHash is the hash of the template that it was created from; "" for an earlier template than that of its deployment.
	TemplateHash string
}

// InstanceFacts are the facts of all Instances that cells report of a deployment, by index. Of a cell only those count that are not
// assigned to another.
func (d *WorkloadDeployment) InstanceFacts() map[int]InstanceFacts {
	facts := map[int]InstanceFacts{}
	for i := range d.Status.Indices {
		of := &d.Status.Indices[i]
		ready, held, current := setOf(of.Ready), setOf(of.Held), setOf(of.Current)
		for _, index := range ParseIndices(of.Existing) {
			if _, seen := facts[index]; seen || !d.Spec.Assignment.belongs(of.Cell, index) {
				continue
			}
			fact := InstanceFacts{Cell: of.Cell, Ready: ready[index], Held: held[index]}
			if current[index] {
				fact.TemplateHash = of.TemplateHash
			}
			facts[index] = fact
		}
	}
	for i := range d.Status.Instances {
		earlier := &d.Status.Instances[i]
		index, ok := InstanceIndex(d.Name, earlier.Name)
		if _, seen := facts[index]; !ok || seen {
			continue
		}
		facts[index] = InstanceFacts{Ready: earlier.ready(), Held: slices.Contains(earlier.SchedulingGates, SchedulingGate{Name: GateQuota}), TemplateHash: earlier.TemplateHash}
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
	for i := range d.Status.Instances {
		if index, ok := InstanceIndex(d.Name, d.Status.Instances[i].Name); ok {
			highest = max(highest, min(index, maxIndex))
		}
	}
	return highest
}

func (r *ReportedInstance) ready() bool {
	return slices.ContainsFunc(r.Conditions, func(c metav1.Condition) bool { return c.Type == ConditionReady && c.Status == metav1.ConditionTrue })
}

func setOf(text string) map[int]bool {
	set := map[int]bool{}
	for _, index := range ParseIndices(text) {
		set[index] = true
	}
	return set
}
