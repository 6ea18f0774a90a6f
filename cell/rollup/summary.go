// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/budget"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// summary is the state of all Instances of a deployment.
type summary struct {
	counts v1alpha.ReplicaCounts
	// needed is how many Instances must be Available for condition Available.
	needed int32
	// scaledToZero reports that the deployment wants no Instance in any cell.
	scaledToZero bool
	// ordered are the Instances by index.
	ordered []indexed
	// readyWanted and availableWanted are how many of the desired Instances are Ready, and Available.
	readyWanted, availableWanted int32
	// leaving is how many Instances are being deleted or are not desired.
	leaving int32
	// suspended reports that the project is suspended. stopped is the number of Instances that no longer run because of
	// that.
	suspended bool
	stopped   int32
	// replacing reports whether an Instance has not got the template that it should have, or runs an earlier one.
	replacing bool
	// heldByQuota reports whether the quota of an Instance is not granted.
	heldByQuota bool
	// heldByData reports whether data that an Instance needs is not in the cell.
	heldByData bool
	// awaitedNetworks describes the missing networks of the template, if an Instance waits for them.
	awaitedNetworks string
	// unlisted is the number of Instances without a slice for their entries.
	unlisted int
	// facts are the indices of the Instances by their state.
	facts v1alpha.CellIndices
	// templates are the templates of the deployment.
	templates *owned.Templates
	// refused are the fields of the deployment that are not as the hub has sent them.
	refused templates.Refusal
	// unaccepted is condition TemplateAccepted; nil if the cell refuses no template that an Instance is to get.
	unaccepted *metav1.Condition
	// worst is why the Instance that most needs a user is not Ready; its message is "" if all are Ready.
	worst trouble
}

func newSummary(deployment *v1alpha.WorkloadDeployment, versions *owned.Templates, instances []v1alpha.Instance) *summary {
	s := &summary{
		ordered: byIndex(deployment.Name, instances), suspended: deployment.Spec.Suspended, templates: versions,
		refused: templates.RefusalOf(deployment),
	}
	indices := naming.Desired(deployment)
	s.counts.DesiredReplicas = int32(len(indices)) //nolint:gosec // at most a few thousand
	s.needed = budget.Needed(s.counts.DesiredReplicas, deployment.Spec.Rollout, nil)
	s.scaledToZero = deployment.Spec.ScaleSettings.Zero()
	for _, entry := range s.ordered {
		instance := entry.Instance
		_, wanted := slices.BinarySearch(indices, entry.index)
		s.count(instance, wanted, isCurrent(deployment, entry, versions))
		if networks := deployment.Spec.Networks; networks != nil && !networks.Ready && hasGate(instance, v1alpha.GateNetwork) {
			s.awaitedNetworks = networks.Message
		}
		if found := troubleOf(instance); found.message != "" && (s.worst.message == "" || reasons.Compare(found.reason, s.worst.reason) < 0) {
			s.worst = found
		}
		s.findRefusal(instance, versions.HashAt(deployment, entry.index))
	}
	s.facts = facts(deployment, versions, s.ordered)
	if s.refused.Any() {
		s.worst = trouble{s.refused.Reason(), s.refused.Message()}
	}
	if s.worst.message == "" && s.unaccepted != nil {
		s.worst = trouble{s.unaccepted.Reason, s.unaccepted.Reason + ": " + s.unaccepted.Message}
	}
	if s.worst.message == "" && s.counts.Replicas < s.counts.DesiredReplicas {
		s.worst.message = reasons.Count(s.counts.DesiredReplicas-s.counts.Replicas, "Instance is", "Instances are") + " not created yet"
	}
	return s
}

// findRefusal finds the note on an Instance that the cell refuses the template with this hash.
func (s *summary) findRefusal(instance *v1alpha.Instance, hash string) {
	if reason, message := owned.Refused(instance, hash); reason != "" && s.unaccepted == nil {
		s.unaccepted = &metav1.Condition{
			Type: v1alpha.ConditionTemplateAccepted, Status: metav1.ConditionFalse, Reason: reason,
			Message: fmt.Sprintf("Instance %s keeps its template: %s", instance.Name, message),
		}
	}
}

// isCurrent reports whether an Instance has the template that it should have now. Where the partition of a rollout keeps it, and
// until the turn of the cell for a changed override or a restored backup, an Instance keeps its template.
func isCurrent(deployment *v1alpha.WorkloadDeployment, instance indexed, versions *owned.Templates) bool {
	return instance.TemplateHash() == versions.Hash || deployment.Spec.Partition.Keeps(instance.index) ||
		versions.AwaitsTurn(deployment, instance.Instance)
}

// awaiting is how many Available Instances a voluntary disruption waits for: the cell gives them up, they get another
// template, or their node is cordoned. One that keeps its template below the partition waits for nothing.
func (s *summary) awaiting(deployment *v1alpha.WorkloadDeployment, cordoned map[string]bool) (count int32) {
	wanted := naming.Desired(deployment)
	for _, entry := range s.ordered {
		_, found := slices.BinarySearch(wanted, entry.index)
		if owned.Available(entry.Instance) && (!found || !isCurrent(deployment, entry, s.templates) || cordoned[entry.Name]) {
			count++
		}
	}
	return count
}

// count adds one Instance. wanted: its index is desired. current: it has the template that it should have.
func (s *summary) count(instance *v1alpha.Instance, wanted, current bool) {
	deleting := !instance.DeletionTimestamp.IsZero()
	s.counts.Replicas++
	if deleting || !wanted {
		s.leaving++
	}
	if !deleting && current {
		s.counts.CurrentReplicas++
	}
	s.replacing = s.replacing || wanted && (!current || owned.RunsEarlier(instance))
	if owned.Ready(instance) {
		s.counts.ReadyReplicas++
		if wanted {
			s.readyWanted++
		}
	}
	if owned.Available(instance) {
		s.counts.AvailableReplicas++
		if wanted {
			s.availableWanted++
		}
	}
	if stopped(instance) {
		s.stopped++
	}
	s.heldByQuota = s.heldByQuota || heldBy(instance, v1alpha.GateQuota, v1alpha.ConditionQuotaGranted)
	s.heldByData = s.heldByData || heldBy(instance, v1alpha.GateReferencedData, v1alpha.ConditionReferencedDataReady)
}

// settled reports whether the Instances are the desired ones.
func (s *summary) settled() bool {
	return s.leaving == 0 && s.counts.Replicas == s.counts.DesiredReplicas &&
		s.counts.CurrentReplicas == s.counts.DesiredReplicas && s.availableWanted == s.counts.DesiredReplicas
}

// replacement returns the progress of a rollout.
func (s *summary) replacement() replacement {
	return replacement{begun: s.replacing, settled: s.settled(), away: int(s.counts.DesiredReplicas - s.availableWanted)}
}

// indexed is an Instance with its index.
type indexed struct {
	index int
	*v1alpha.Instance
}

// byIndex are the Instances with names that the deployment creates, ascending by index. Others are not reported.
func byIndex(deployment string, instances []v1alpha.Instance) []indexed {
	result := make([]indexed, 0, len(instances))
	for i := range instances {
		if index, ok := naming.InstanceIndex(deployment, instances[i].Name); ok {
			result = append(result, indexed{index, &instances[i]})
		}
	}
	slices.SortFunc(result, func(a, b indexed) int { return cmp.Compare(a.index, b.index) })
	return result
}

// within are the Instances with indices from first to last.
func (s *summary) within(first, last int32) []indexed {
	find := func(index int) int {
		at, _ := slices.BinarySearchFunc(s.ordered, index, func(entry indexed, index int) int { return cmp.Compare(entry.index, index) })
		return at
	}
	return s.ordered[find(int(first)):find(int(last)+1)]
}

// trouble is why an Instance is not Ready. It is empty when the Instance is Ready or being deleted, unless its node is lost, which
// holds the deletion.
type trouble struct{ reason, message string }

func troubleOf(instance *v1alpha.Instance) trouble {
	ready := meta.FindStatusCondition(owned.Conditions(instance), v1alpha.ConditionReady)
	leaving := !instance.DeletionTimestamp.IsZero() && (ready == nil || ready.Reason != v1alpha.ReasonNodeLost)
	if owned.Ready(instance) || leaving {
		return trouble{}
	}
	found := trouble{reason: v1alpha.ReasonProvisioning, message: "its Pod is being replaced"}
	if !owned.Superseded(instance) {
		if ready == nil {
			return trouble{message: fmt.Sprintf("Instance %s has not been reconciled yet", instance.Name)}
		}
		found = trouble{ready.Reason, ready.Message}
	}
	found.message = fmt.Sprintf("Instance %s: %s: %s", instance.Name, found.reason, found.message)
	return found
}

// cause is the reason of the Instance that most needs a user; "" if it only waits.
func (s *summary) cause() string {
	if reasons.IsCause(v1alpha.ConditionReplicasReady, s.worst.reason) {
		return s.worst.reason
	}
	return ""
}

// heldBy reports whether an Instance has a scheduling gate and the condition on which the gate is lifted is False.
func heldBy(instance *v1alpha.Instance, gate, condition string) bool {
	return hasGate(instance, gate) &&
		meta.IsStatusConditionPresentAndEqual(owned.Conditions(instance), condition, metav1.ConditionFalse)
}

func hasGate(instance *v1alpha.Instance, gate string) bool {
	return slices.Contains(instance.SchedulingGates(), v1alpha.SchedulingGate{Name: gate})
}
