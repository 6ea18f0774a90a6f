// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// The longest lists of a report: of an object, a state or an Instance.
const (
	MaxConditions = 32
	MaxGates      = 8
	MaxInterfaces = 8
	MaxContainers = 48
)

// MaxInstances is the most Instances that a report may have. Karmada writes all of it three times for each change, and
// reads it back in one request of at most a MiB.
const MaxInstances = 1000

// MaxOfType is how many entries of one type all lists of a report may have together. Entries beyond, and beyond
// MaxLists, are not read.
const MaxOfType = 4 * MaxInstances

// MaxLists are the longest lists of a report by their names. Other lists have MaxInstances.
var MaxLists = map[string]int{
	"conditions": MaxConditions, "schedulingGates": MaxGates, "networkInterfaces": MaxInterfaces, "containers": MaxContainers,
	"reports": 1, "indices": 1,
}

// ReportLists bounds the lists of a report that has faults.
var ReportLists = Lists{Max: MaxInstances, Named: MaxLists, OfType: MaxOfType}

// MaxWord is the longest type or reason of a condition, in bytes. Both are letters and digits, and begin with a letter.
const MaxWord = 128

// Text bounds a text of a report: at most Most bytes, which are ASCII letters and digits or in Other.
type Text struct {
	Max   int
	Other string
}

// Texts of a report.
var (
	HashText    = Text{Max: 63, Other: "-._"}
	GateText    = Text{Max: 253, Other: "-./"}
	AddressText = Text{Max: 45, Other: ".:"}
	SinceText   = Text{Max: 1024, Other: " +-:"}
	NameText    = Text{Max: 63, Other: "-"}
	ImageText   = Text{Max: 1024, Other: "-._:/@+"}
	// IndicesText is as long as the schema allows.
	IndicesText = Text{Max: 32768, Other: ",-"}
	// AddressesText is a list of the addresses or the names of a Service.
	AddressesText = Text{Max: 2048, Other: ",-.:"}
)

// Fits reports whether a text is not too long and has no other characters.
func (t Text) Fits(text string) bool {
	return len(text) <= t.Max && !strings.ContainsFunc(text,
		func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune(t.Other, r) })
}

// or is the text if it fits, and otherwise "".
func (t Text) or(text string) string {
	if t.Fits(text) {
		return text
	}
	return ""
}

func isLetter(r rune) bool       { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
func isAlphanumeric(r rune) bool { return isLetter(r) || r >= '0' && r <= '9' }

func isWord(text string) bool {
	return text != "" && Text{Max: MaxWord}.Fits(text) && isLetter(rune(text[0]))
}

// Bound truncates a cell's report to a bounded size, and drops content that no agent reports. A cell has one report.
// AggregateStatus bounds it again: if Karmada's agent runs in the cell, the report has not been bounded before. One
// condition that the hub's API server refuses would keep the reports of all cells out of the status.
func Bound(status *v1alpha.WorkloadDeploymentStatus) {
	status.Conditions = boundConditions(status.Conditions)
	status.Reports = first(status.Reports, 1)
	for i := range status.Reports {
		boundReport(&status.Reports[i])
	}
	status.Indices = slices.DeleteFunc(first(status.Indices, 1), func(indices v1alpha.CellIndices) bool {
		return !IndicesText.Fits(indices.Existing) || !IndicesText.Fits(indices.Ready) || !IndicesText.Fits(indices.AvailableIndices) ||
			!IndicesText.Fits(indices.Held) ||
			!IndicesText.Fits(indices.Current) || !IndicesText.Fits(indices.DataReady) || !IndicesText.Fits(indices.Overridden)
	})
	for i := range status.Indices {
		cellIndices := &status.Indices[i]
		cellIndices.TemplateHash, cellIndices.DataMissing = HashText.or(cellIndices.TemplateHash), boundMessage(cellIndices.DataMissing)
		cellIndices.DataDiffers = boundMessage(cellIndices.DataDiffers)
		cellIndices.OverriddenHash = HashText.or(cellIndices.OverriddenHash)
		cellIndices.Addresses = AddressesText.or(cellIndices.Addresses)
		cellIndices.UnroutedHostnames = AddressesText.or(cellIndices.UnroutedHostnames)
	}
}

// MaxIndex is the highest index of an Instance.
const MaxIndex = 9999

// boundCounts bounds the counts of a cell. The sums of all cells fit their fields.
func boundCounts(counts v1alpha.ReplicaCounts, limit int32) v1alpha.ReplicaCounts {
	for _, count := range []*int32{
		&counts.Replicas, &counts.CurrentReplicas, &counts.DesiredReplicas, &counts.ReadyReplicas, &counts.AvailableReplicas,
	} {
		*count = max(0, min(*count, limit))
	}
	return WithoutProject(counts)
}

// WithoutProject returns counts without the counts that only projects have.
func WithoutProject(counts v1alpha.ReplicaCounts) v1alpha.ReplicaCounts {
	counts.UpdatedReplicas, counts.UpdatedAvailableReplicas = 0, 0
	return counts
}

// boundReport bounds a report. A report has no more states than Instances.
func boundReport(report *v1alpha.InstanceReport) {
	report.Instances = first(report.Instances, MaxInstances)
	report.States = first(report.States, len(report.Instances))
	for i := range report.Instances {
		entry := &report.Instances[i]
		entry.Since, entry.NetworkInterfaces = SinceText.or(entry.Since), boundInterfaces(entry.NetworkInterfaces)
		entry.Containers = boundContainers(entry.Containers)
	}
	for n := range report.States {
		state := &report.States[n]
		state.TemplateHash, state.ObservedTemplateHash = HashText.or(state.TemplateHash), HashText.or(state.ObservedTemplateHash)
		state.DataHash = HashText.or(state.DataHash)
		state.SchedulingGates, state.Conditions = boundGates(state.SchedulingGates), first(state.Conditions, MaxConditions)
		// An entry has the times of the conditions by their positions.
		if slices.ContainsFunc(state.Conditions, func(c v1alpha.StateCondition) bool { return !isValid(c.Type, c.Reason, c.Status) }) {
			state.Conditions = nil
		}
		for c := range state.Conditions {
			state.Conditions[c].Message = boundMessage(state.Conditions[c].Message)
		}
	}
}

// first are the first entries of a list, at most so many.
func first[T any](entries []T, limit int) []T { return entries[:min(len(entries), limit)] }

func boundConditions(conditions []metav1.Condition) []metav1.Condition {
	conditions = slices.DeleteFunc(first(conditions, MaxConditions), func(c metav1.Condition) bool {
		// The zero time is encoded as null.
		return !isValid(c.Type, c.Reason, c.Status) || c.LastTransitionTime.IsZero()
	})
	for i := range conditions {
		conditions[i].Message = boundMessage(conditions[i].Message)
	}
	return conditions
}

// isValid reports whether an API server accepts a condition with these texts.
func isValid(kind, reason string, status metav1.ConditionStatus) bool {
	return isWord(kind) && isWord(reason) && (status == metav1.ConditionTrue || status == metav1.ConditionFalse ||
		status == metav1.ConditionUnknown)
}

func boundGates(gates []v1alpha.SchedulingGate) []v1alpha.SchedulingGate {
	return slices.DeleteFunc(first(gates, MaxGates),
		func(gate v1alpha.SchedulingGate) bool { return gate.Name == "" || !GateText.Fits(gate.Name) })
}

func boundInterfaces(interfaces []v1alpha.InstanceNetworkInterfaceStatus) []v1alpha.InstanceNetworkInterfaceStatus {
	interfaces = first(interfaces, MaxInterfaces)
	for i := range interfaces {
		assigned := &interfaces[i].Assignments
		for _, address := range []*string{assigned.NetworkIP, assigned.ExternalIP} {
			if address != nil {
				*address = AddressText.or(*address)
			}
		}
	}
	return interfaces
}

func boundContainers(containers []v1alpha.ContainerEntry) []v1alpha.ContainerEntry {
	containers = first(containers, MaxContainers)
	for i := range containers {
		container := &containers[i]
		container.Name, container.ImageID = NameText.or(container.Name), ImageText.or(container.ImageID)
		container.FinishedAt, container.Reason = SinceText.or(container.FinishedAt), NameText.or(container.Reason)
		container.Message = boundMessage(container.Message)
	}
	return containers
}

// boundMessage shortens a message and replaces control characters by spaces: people read it on terminals.
func boundMessage(message string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, reasons.Shorten(message, v1alpha.MaxMessage))
}
