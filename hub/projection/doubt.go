// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// judge finds the faults that invalidate the reported status. Faults younger than DoubtAfter requeue the deployment.
func (s *scope) judge(ctx context.Context) error {
	if s.withdrawn {
		return s.judgeAbsence(ctx)
	}
	var err error
	if s.row, err = s.loadRow(ctx); err != nil {
		return err
	}
	now := s.now
	for _, found := range s.Book.Observe(s.request, path.OwnPath, path.Judge(s.row)) {
		if found.Fault.Reason() == "" || !s.concerns(&found) {
			continue
		}
		s.remember(&found)
		if remaining := found.Remaining(now, s.DoubtAfter); remaining > 0 {
			s.requeueAfter.AtMost(remaining)
			continue
		}
		found.Since = found.Since.Truncate(time.Second)
		s.findings = append(s.findings, found)
	}
	s.judgeSlices()
	return s.explainUnsent(ctx)
}

// loadRow reads the path of the deployment.
func (s *scope) loadRow(ctx context.Context) (*path.Row, error) {
	name := types.NamespacedName{Namespace: s.deployment.Annotations[v1alpha.AnnotationHubNamespace], Name: s.deployment.Name}
	return path.Load(ctx, s.Hub, path.Subject{Name: name, Original: s.deployment, Copied: s.onHub, Karmada: s.karmada(s.Karmada.State())})
}

// judgeSlices adds the audit's findings on the paths of slices. They have lasted already.
func (s *scope) judgeSlices() {
	for _, found := range s.Book.OfSlices(s.request) {
		if found.Fault.Reason() == "" || !s.concerns(&found) {
			continue
		}
		s.remember(&found)
		found.Since = found.Since.Truncate(time.Second)
		s.findings = append(s.findings, found)
	}
}

// karmada returns the state of karmada-controller-manager. A replica that does not know the state yet repeats the
// previous replica's report.
func (s *facts) karmada(state path.Karmada) path.Karmada {
	before := meta.FindStatusCondition(s.deployment.Status.Conditions, v1alpha.ConditionStatusCurrent)
	if state.Pending && before != nil && before.Reason == v1alpha.ReasonKarmadaNotRunning {
		return path.Karmada{Down: true, Since: before.LastTransitionTime.Time, Message: before.Message}
	}
	return state
}

// remember sets Since of a finding back to when the project first showed it, possibly by another replica.
func (s *facts) remember(found *path.Finding) {
	before := meta.FindStatusCondition(s.deployment.Status.Conditions, v1alpha.ConditionStatusCurrent)
	if before == nil || before.Status != metav1.ConditionFalse || !before.LastTransitionTime.Time.Before(found.Since) {
		return
	}
	if before.Reason == found.Fault.Reason() || before.Reason == v1alpha.ReasonOverrideNotApplied && isUnsent(found) {
		found.Since = before.LastTransitionTime.Time
	}
}

// concerns reports whether a finding invalidates what is shown. For a cell that only releases Instances, only CellNotReady
// does: Karmada keeps its last report.
func (s *facts) concerns(found *path.Finding) bool {
	assignment := s.copied.Spec.Assignment
	if found.Cell == "" || assignment == nil || len(naming.Assigned(assignment, found.Cell)) > 0 {
		return true
	}
	return found.Fault == path.CellNotReady && len(naming.Releasing(assignment, found.Cell)) > 0
}

// finding returns the finding that invalidates the reported state of an Instance, or nil.
func (s *facts) finding(instance string) *path.Finding {
	index, _ := naming.InstanceIndex(s.deployment.Name, instance)
	return s.findingAt(index)
}

// findingAt returns the finding for the Instance at an index. An override policy that is not applied is none: the cell runs and
// reports the copy that it has.
func (s *facts) findingAt(index int) *path.Finding {
	cell := ""
	if assignment := s.copied.Spec.Assignment; assignment != nil {
		cell = cmp.Or(assignment.Owner(index), assignment.Releaser(index))
	} else if s.row != nil && s.row.Binding != nil && len(s.row.Binding.Spec.Clusters) == 1 {
		cell = s.row.Binding.Spec.Clusters[0].Name
	}
	for i := range s.findings {
		found := &s.findings[i]
		if found.Fault != path.OverrideNotApplied && (found.Cell == "" || found.Cell == cell) &&
			(found.Slice == "" || found.Slice == s.sliceOf(index)) {
			return found
		}
	}
	return nil
}

// sliceOf returns the name of the slice that holds the Instance at an index; "": the status of the deployment holds it.
func (s *facts) sliceOf(index int) string {
	number, sliced := naming.SliceOf(index)
	if !sliced {
		return ""
	}
	return naming.SliceName(s.deployment.Name, number)
}

// doubted returns the conditions of an Instance, with Ready and Available Unknown if the path from its cell is broken.
func (s *facts) doubted(instance string, reported []metav1.Condition, generation int64) []metav1.Condition {
	found := s.finding(instance)
	if found == nil {
		return reported
	}
	return unknown(reported, metav1.Condition{
		Reason: found.Fault.Reason(), ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(found.Since), Message: describe(found),
	})
}

// unknown returns the conditions of an Instance with Ready and, if present, Available set to Unknown as in like.
func unknown(conditions []metav1.Condition, like metav1.Condition) []metav1.Condition {
	result := slices.Clone(conditions)
	for _, kind := range []string{v1alpha.ConditionReady, v1alpha.ConditionAvailable} {
		like.Type, like.Status = kind, metav1.ConditionUnknown
		if before := meta.FindStatusCondition(result, kind); before != nil {
			*before = like
		} else if kind == v1alpha.ConditionReady {
			result = append(result, like)
		}
	}
	return result
}

// doubtInstance updates an Instance that no cell reports: its conditions remain, and become Unknown if the path from
// its cell is broken, or if no cell has reported at all.
func (s *scope) doubtInstance(ctx context.Context, existing *v1alpha.Instance) error {
	conditions := s.doubted(existing.Name, existing.Status.Conditions, existing.Generation)
	if s.finding(existing.Name) == nil && !s.hasReport() {
		conditions = s.unheard(existing)
	}
	if !existing.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(existing.Status.Conditions, conditions) {
		return nil
	}
	existing.Status.Conditions = conditions
	return apply.Status(ctx, s.project, FieldManager, existing)
}

func describe(found *path.Finding) string {
	message := fmt.Sprintf("unknown since %s: %s", found.Since.UTC().Format(time.RFC3339), found.Message)
	if found.Cell != "" {
		message = fmt.Sprintf("cell %s: %s", found.Cell, message)
	}
	return reasons.Shorten(message, v1alpha.MaxMessage)
}

// described returns the message of a finding, with its cell.
func described(found *path.Finding) string {
	message := found.Message
	if found.Cell != "" {
		message = fmt.Sprintf("cell %s: %s", found.Cell, message)
	}
	return reasons.Shorten(message, v1alpha.MaxMessage)
}

// doubt subtracts the Instances whose state is unknown from the counts of Ready and of Available Instances, and reports
// that in a condition. If only the slice of an Instance is faulty, the deployment's own report decides.
func (s *facts) doubt(status *v1alpha.WorkloadDeploymentStatus) {
	var unknown, lost, unavailable int32
	var worst *path.Finding
	if len(s.findings) == 0 {
		return
	}
	facts := wire.FactsOf(s.copied)
	for _, index := range slices.Sorted(maps.Keys(facts)) {
		found := s.findingAt(index)
		if found == nil || found.Slice != "" {
			continue
		}
		unknown++
		worst = found
		if facts[index].Ready {
			lost++
		}
		if facts[index].Available {
			unavailable++
		}
	}
	if unknown == 0 {
		return
	}
	status.ReadyReplicas = max(0, status.ReadyReplicas-lost)
	status.AvailableReplicas = max(0, min(status.AvailableReplicas-unavailable, status.ReadyReplicas))
	message := fmt.Sprintf("the state of %d of %d Instances is unknown: %s", unknown, len(facts), describe(worst))
	kinds := []string{v1alpha.ConditionReplicasReady}
	if status.ReadyReplicas == 0 {
		kinds = append(kinds, v1alpha.ConditionAvailable)
	}
	for _, kind := range kinds {
		s.set(status, metav1.Condition{Type: kind, Status: metav1.ConditionUnknown, Reason: worst.Fault.Reason(), Message: message}, worst.Since)
	}
}

// addCurrent reports whether the status and the Instances show the cells' present report. The condition's generation is
// the one that the cells report on: after a change of the deployment, `kubectl wait` waits for their report.
func (s *facts) addCurrent(status *v1alpha.WorkloadDeploymentStatus) {
	switch {
	case len(s.findings) > 0:
		worst := &s.findings[0]
		s.set(status, metav1.Condition{
			Type: v1alpha.ConditionStatusCurrent, Status: metav1.ConditionFalse, Reason: worst.Fault.Reason(), Message: described(worst),
		}, worst.Since)
	case !s.hasReport():
		s.set(status, metav1.Condition{
			Type: v1alpha.ConditionStatusCurrent, Status: metav1.ConditionUnknown, Reason: v1alpha.ReasonAwaitingReport,
			Message: fmt.Sprintf("no cell of %s has reported yet", s.deployment.Spec.CityCode),
		}, s.now)
	default:
		s.set(status, metav1.Condition{
			Type: v1alpha.ConditionStatusCurrent, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonReported, Message: s.overrides(),
		}, s.now)
	}
}

// overrides names the override policies that change the deployment for its cells; "": none.
func (s *facts) overrides() string {
	var changes []string
	for _, cell := range slices.Sorted(maps.Keys(s.row.Works)) {
		if policies := path.OverridesOf(s.row.Works[cell]); len(policies) > 0 {
			changes = append(changes, fmt.Sprintf("for cell %s by %s", cell, strings.Join(policies, ", ")))
		}
	}
	if len(changes) == 0 {
		return ""
	}
	return reasons.Shorten("override policies of the operator change the deployment: "+strings.Join(changes, "; "), v1alpha.MaxMessage)
}

// set sets a condition, which keeps its transition time in the project while its status does not change.
func (s *facts) set(status *v1alpha.WorkloadDeploymentStatus, condition metav1.Condition, since time.Time) {
	stamped := apply.StampedConditions(s.deployment.Status.Conditions,
		apply.Stamp{Generation: status.ObservedGeneration, Now: since}, condition)
	meta.RemoveStatusCondition(&status.Conditions, condition.Type)
	status.Conditions = append(status.Conditions, stamped...)
	slices.SortFunc(status.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
}
