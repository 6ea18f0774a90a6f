// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Instance is an Instance as its cell reports it.
type Instance struct {
	Name string
	// TemplateHash is the hash of the template that the Instance was created from, and ObservedTemplateHash the hash of
	// the running template.
	TemplateHash, ObservedTemplateHash string
	// DataHash is the hash of the data that the Instance was started with.
	DataHash string
	// SchedulingGates are the gates that are not lifted yet.
	SchedulingGates   []v1alpha.SchedulingGate
	Conditions        []metav1.Condition
	NetworkInterfaces []v1alpha.InstanceNetworkInterfaceStatus
	// StartTime is the time at which its node accepted its Pod; nil before.
	StartTime *metav1.Time
	// Restarts is the number of restarts of its containers.
	Restarts int32
	// Containers are the states of its containers.
	Containers []v1alpha.InstanceContainerStatus
}

// Healthy reports whether an Instance with these conditions is Available and has never restarted a container. The
// states of its containers add nothing to its conditions, and are not reported.
func (r *Instance) Healthy() bool {
	return r.Restarts == 0 && meta.IsStatusConditionTrue(r.Conditions, v1alpha.ConditionAvailable)
}

// New creates the report of these Instances of a deployment, ascending by index. The report has everything except the
// observed generations of their conditions, which belong to an object that the reader does not have.
func New(deployment string, instances []Instance) v1alpha.InstanceReport {
	var report v1alpha.InstanceReport
	states := map[string]int32{}
	for i := range instances {
		instance := &instances[i]
		index, ok := naming.InstanceIndex(deployment, instance.Name)
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
		entry := v1alpha.InstanceEntry{
			Index: int32(index), State: state, Since: formatSince(instance.Conditions), //nolint:gosec // at most a few thousand
			NetworkInterfaces: instance.NetworkInterfaces, Started: startedSince(instance), Restarts: instance.Restarts,
		}
		if !instance.Healthy() {
			entry.Containers = containerEntries(instance.Containers)
		}
		report.Instances = append(report.Instances, entry)
	}
	return report
}

// stateKey is the same for Instances in the same state.
func stateKey(instance *Instance) string {
	var key strings.Builder
	add := func(parts ...string) {
		for _, part := range parts {
			// With their lengths no two lists of parts make the same key.
			key.WriteString(strconv.Itoa(len(part)))
			key.WriteByte(':')
			key.WriteString(part)
		}
	}
	add(instance.TemplateHash, instance.ObservedTemplateHash, instance.DataHash)
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

func stateOf(instance *Instance) v1alpha.InstanceState {
	state := v1alpha.InstanceState{
		TemplateHash: instance.TemplateHash, ObservedTemplateHash: instance.ObservedTemplateHash, DataHash: instance.DataHash,
		SchedulingGates: instance.SchedulingGates,
	}
	for i := range instance.Conditions {
		c := &instance.Conditions[i]
		state.Conditions = append(state.Conditions, v1alpha.StateCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
	}
	return state
}

// maxConditions is the most conditions of a state that are read: every Instance in the state has them all.
const maxConditions = 32

// instanceOf is the Instance of an entry. For an invalid entry, it has the parts that can be read.
func instanceOf(r *v1alpha.InstanceReport, deployment string, position int) Instance {
	entry := &r.Instances[position]
	instance := Instance{
		Name: naming.InstanceName(deployment, int(entry.Index)), NetworkInterfaces: entry.NetworkInterfaces, Restarts: entry.Restarts,
		Containers: containerStatuses(entry.Containers),
	}
	if entry.State >= 0 && int(entry.State) < len(r.States) {
		describe(&r.States[entry.State], &instance, entry.Since)
	}
	if entry.Started != nil && len(instance.Conditions) > 0 && !instance.Conditions[0].LastTransitionTime.IsZero() {
		started := metav1.Unix(instance.Conditions[0].LastTransitionTime.Unix()+int64(*entry.Started), 0)
		instance.StartTime = &started
	}
	return instance
}

// describe copies the state into instance.
func describe(s *v1alpha.InstanceState, instance *Instance, since string) {
	instance.TemplateHash, instance.ObservedTemplateHash, instance.SchedulingGates = s.TemplateHash, s.ObservedTemplateHash, s.SchedulingGates
	instance.DataHash = s.DataHash
	if len(s.Conditions) == 0 {
		return
	}
	times := parseSince(since, len(s.Conditions))
	instance.Conditions = make([]metav1.Condition, min(len(s.Conditions), maxConditions))
	for i := range instance.Conditions {
		c := &s.Conditions[i]
		if times[i].IsZero() {
			// An API server refuses a condition without a time.
			times[i] = metav1.Unix(0, 0)
		}
		instance.Conditions[i] = metav1.Condition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: times[i],
		}
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

// maxSince is the longest text with the transition times of conditions that is read, in bytes.
const maxSince = 1024

// parseSince is the inverse of formatSince for so many conditions. A time that cannot be read is zero.
func parseSince(since string, count int) []metav1.Time {
	times := make([]metav1.Time, min(count, maxConditions))
	fields := strings.Fields(since[:min(len(since), maxSince)])
	if len(fields) != count || count > maxConditions {
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

// Instances returns the Instances in the status of a deployment, by index. A cell's report of an index counts unless
// the index is assigned to another cell. An Instance with an index that is assigned to no cell is being deleted, and is
// listed until it is gone.
func Instances(d *v1alpha.WorkloadDeployment) []Instance {
	return reported(d, d.Status.Reports)
}

// InstancesIn returns the Instances in the reports of a slice for these indices, as Instances does for the status.
func InstancesIn(d *v1alpha.WorkloadDeployment, reports []v1alpha.InstanceReport, within v1alpha.IndexRange) []Instance {
	return slices.DeleteFunc(reported(d, reports), func(instance Instance) bool {
		index, _ := naming.InstanceIndex(d.Name, instance.Name)
		return index < int(within.First) || index > int(within.Last)
	})
}

// reported are the Instances in reports, which are in the order of their cells, by index.
func reported(d *v1alpha.WorkloadDeployment, reports []v1alpha.InstanceReport) []Instance {
	type indexed struct {
		index    int
		instance Instance
	}
	var found []indexed
	seen, own := map[int]bool{}, ownershipOf(d)
	for i := range reports {
		for n := range reports[i].Instances {
			// Ignored entries are not decoded: a report may have any number of entries.
			if index := int(reports[i].Instances[n].Index); !seen[index] && own.counts(reports[i].Cell, index) {
				seen[index] = true
				found = append(found, indexed{index, instanceOf(&reports[i], d.Name, n)})
			}
		}
	}
	slices.SortFunc(found, func(x, y indexed) int { return cmp.Compare(x.index, y.index) })
	result := make([]Instance, 0, len(found))
	for i := range found {
		result = append(result, found[i].instance)
	}
	return result
}

// DecodeSlice decodes a cell's report in a slice from the status that Karmada has collected, and bounds it as DecodeReport
// does. It returns false for any other content, and for a report that no agent has written yet.
func DecodeSlice(cell string, raw []byte) (v1alpha.InstanceReport, bool) {
	status, faults := decode[v1alpha.InstanceSliceStatus](raw)
	if faults[WholeStatus] || status.ObservedGeneration < 1 {
		return v1alpha.InstanceReport{}, false
	}
	boundReport(&status.InstanceReport)
	status.Cell = cell
	return status.InstanceReport, true
}
