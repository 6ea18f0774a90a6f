// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NewInstanceReport is the report of these Instances of a deployment, ascending by index. It has all of them but the observed
// generations of their conditions, which are those of an object that the reader does not have.
func NewInstanceReport(deployment string, instances []ReportedInstance) InstanceReport {
	var report InstanceReport
	states := map[string]int32{}
	for i := range instances {
		instance := &instances[i]
		index, ok := InstanceIndex(deployment, instance.Name)
		if !ok {
			continue
		}
		key := stateKey(instance)
		state, known := states[key]
		if !known {
			state = int32(len(report.States)) //nolint:gosec // there are not more than Instances
			states[key] = state
			report.States = append(report.States, stateOf(instance))
		}
		report.Instances = append(report.Instances, InstanceEntry{
			Index: int32(index), State: state, Since: formatSince(instance.Conditions), //nolint:gosec // at most a few thousand
			NetworkInterfaces: instance.NetworkInterfaces,
		})
	}
	return report
}

// stateKey is the same for Instances in the same state.
func stateKey(instance *ReportedInstance) string {
	var key strings.Builder
	add := func(parts ...string) {
		for _, part := range parts {
			// With their lengths no two lists of parts make the same key.
			key.WriteString(strconv.Itoa(len(part)))
			key.WriteByte(':')
			key.WriteString(part)
		}
	}
	add(instance.TemplateHash, instance.ObservedTemplateHash)
	add(strconv.Itoa(len(instance.SchedulingGates)))
	for _, gate := range instance.SchedulingGates {
		add(gate.Name)
	}
	for i := range instance.Conditions {
		c := &instance.Conditions[i]
		add(c.Type, string(c.Status), c.Reason, c.Message)
	}
	return key.String()
}

func stateOf(instance *ReportedInstance) InstanceState {
	state := InstanceState{
		TemplateHash: instance.TemplateHash, ObservedTemplateHash: instance.ObservedTemplateHash, SchedulingGates: instance.SchedulingGates,
	}
	for i := range instance.Conditions {
		c := &instance.Conditions[i]
		state.Conditions = append(state.Conditions, StateCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
	}
	return state
}

// Reported are the Instances of a report on a deployment, as they are in their cell. Of an entry that is invalid it has what can be
// read.
func (r *InstanceReport) Reported(deployment string) []ReportedInstance {
	result := make([]ReportedInstance, 0, len(r.Instances))
	for i := range r.Instances {
		entry := &r.Instances[i]
		instance := ReportedInstance{Name: InstanceName(deployment, int(entry.Index)), NetworkInterfaces: entry.NetworkInterfaces}
		if entry.State >= 0 && int(entry.State) < len(r.States) {
			r.States[entry.State].describe(&instance, entry.Since)
		}
		result = append(result, instance)
	}
	return result
}

// describe sets in instance what the state says.
func (s *InstanceState) describe(instance *ReportedInstance, since string) {
	instance.TemplateHash, instance.ObservedTemplateHash, instance.SchedulingGates = s.TemplateHash, s.ObservedTemplateHash, s.SchedulingGates
	if len(s.Conditions) == 0 {
		return
	}
	times := parseSince(since, len(s.Conditions))
	instance.Conditions = make([]metav1.Condition, len(s.Conditions))
	for i := range s.Conditions {
		c := &s.Conditions[i]
		instance.Conditions[i] = metav1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: times[i]}
	}
}

// formatSince are the transition times of conditions, which have whole seconds.
func formatSince(conditions []metav1.Condition) string {
	if len(conditions) == 0 {
		return ""
	}
	first := conditions[0].LastTransitionTime
	var since strings.Builder
	since.WriteString(first.UTC().Format(time.RFC3339))
	for i := range conditions[1:] {
		later := conditions[i+1].LastTransitionTime.Unix() - first.Unix()
		since.WriteByte(' ')
		if later >= 0 {
			since.WriteByte('+')
		}
		since.WriteString(strconv.FormatInt(later, 10))
	}
	return since.String()
}

// parseSince is the inverse of formatSince for so many conditions. A time that cannot be read is zero.
func parseSince(since string, count int) []metav1.Time {
	times := make([]metav1.Time, count)
	fields := strings.Fields(since)
	if len(fields) != count {
		return times
	}
	first, err := time.Parse(time.RFC3339, fields[0])
	if err != nil {
		return times
	}
	times[0] = metav1.NewTime(first)
	for i, field := range fields[1:] {
		if seconds, err := strconv.ParseInt(field, 10, 64); err == nil {
			times[i+1] = metav1.Unix(first.Unix()+seconds, 0)
		}
	}
	return times
}

// ReportedInstances are the Instances in the status of a deployment, by index: those that its cells report, of each cell only those
// that are not assigned to another. An Instance with an index that is assigned to no cell is being deleted and is listed until it is
// gone. Agents of earlier versions report status.instances, which count where no other agent reports the same Instance.
func (d *WorkloadDeployment) ReportedInstances() []ReportedInstance {
	return d.Spec.Assignment.reported(d.Name, d.Status.Reports, d.Status.Instances)
}

// ReportedIn are the Instances in the reports of a slice for these indices, as ReportedInstances has those in the status.
func (d *WorkloadDeployment) ReportedIn(reports []InstanceReport, within IndexRange) []ReportedInstance {
	return slices.DeleteFunc(d.Spec.Assignment.reported(d.Name, reports, nil), func(instance ReportedInstance) bool {
		index, _ := InstanceIndex(d.Name, instance.Name)
		return index < int(within.First) || index > int(within.Last)
	})
}

// reported are the Instances in reports, which are in the order of their cells, and those in others, by index. a may be nil.
func (a *WorkloadDeploymentAssignment) reported(deployment string, reports []InstanceReport, others []ReportedInstance) []ReportedInstance {
	type indexed struct {
		index    int
		instance ReportedInstance
	}
	var found []indexed
	seen := map[int]bool{}
	add := func(cell string, instances []ReportedInstance) {
		for i := range instances {
			index, ok := InstanceIndex(deployment, instances[i].Name)
			if ok && !seen[index] && a.belongs(cell, index) {
				seen[index] = true
				found = append(found, indexed{index, instances[i]})
			}
		}
	}
	for i := range reports {
		add(reports[i].Cell, reports[i].Reported(deployment))
	}
	add("", others)
	slices.SortFunc(found, func(x, y indexed) int { return cmp.Compare(x.index, y.index) })
	result := make([]ReportedInstance, 0, len(found))
	for i := range found {
		result = append(result, found[i].instance)
	}
	return result
}

// belongs says whether an Instance that a cell reports is not another cell's. a may be nil.
func (a *WorkloadDeploymentAssignment) belongs(cell string, index int) bool {
	if a == nil || cell == "" {
		return true
	}
	owner := a.Owner(index)
	return owner == "" || owner == cell
}
