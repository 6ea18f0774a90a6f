// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// maxRolloutMessage is the longest message in status.rollout, in bytes.
const maxRolloutMessage = 1024

// rolloutStatus returns status.rollout.
func (s *summary) rolloutStatus() *v1alpha.WorkloadRolloutStatus {
	before, result := s.Workload.Status.Rollout, &s.rolling.result
	if before == nil {
		before = &v1alpha.WorkloadRolloutStatus{}
	}
	status := &v1alpha.WorkloadRolloutStatus{
		Revision: s.Revision, TemplateHash: s.Template.Written, CompleteTemplateHash: before.CompleteTemplateHash,
		Phase: v1alpha.RolloutPhase(result.Phase), Message: reasons.Shorten(result.Message, maxRolloutMessage),
	}
	if before.FailedTemplateHash == s.Template.Written {
		status.FailedTemplateHash = before.FailedTemplateHash
	}
	if result.City >= 0 && result.City < len(s.rolling.cities) {
		status.City = s.rolling.cities[result.City].Spec.CityCode
	}
	s.endRollout(status, before)
	return status
}

// endRollout decides whether the rollout, or its undo, is complete or has failed. before is the status before.
func (s *summary) endRollout(status, before *v1alpha.WorkloadRolloutStatus) {
	result := &s.rolling.result
	again := before.TemplateHash == s.Template.Written && len(result.Take) == 0 && rollout.Updated(&s.rolling.state)
	complete := result.Phase == rollout.Complete && len(s.rolling.cities) > 0
	if s.Template.Target != s.Template.Written {
		status.Phase = v1alpha.RolloutUndoing
		if complete || before.Phase == v1alpha.RolloutUndone && again {
			status.Phase, status.City, status.Message = v1alpha.RolloutUndone, "",
				"the rollout failed; all Instances have the last complete template"
		}
		return
	}
	switch {
	case complete || before.Phase == v1alpha.RolloutComplete && again:
		// An Instance that fails later does not belong to the rollout.
		status.Phase, status.City, status.Message = v1alpha.RolloutComplete, "", ""
		status.CompleteTemplateHash = s.Template.Written
	case result.Phase == rollout.Progressing && s.failed():
		s.failRollout(status)
	case result.Phase == rollout.Complete:
		status.Phase = v1alpha.RolloutProgressing
	}
}

// failRollout records that the rollout has failed.
func (s *summary) failRollout(status *v1alpha.WorkloadRolloutStatus) {
	status.Phase = v1alpha.RolloutFailed
	if s.undoesTo(status.CompleteTemplateHash) {
		status.FailedTemplateHash = s.Template.Written
	}
}

// undoesTo reports whether a rollout that fails is undone to the template with a hash.
func (s *summary) undoesTo(hash string) bool {
	r := s.Workload.Spec.Rollout
	return r != nil && r.OnFailure == v1alpha.RolloutUndo && hash != "" && hash != s.Template.Written
}

// failed reports whether a city that gets the template has made no progress for too long.
func (s *summary) failed() bool {
	return slices.ContainsFunc(s.rolling.cities, func(d *v1alpha.WorkloadDeployment) bool {
		hash, err := templates.Hash(&d.Spec.Template)
		return err == nil && hash == s.Template.Target && hasExceeded(d) && !isSilent(d)
	})
}

// isSilent reports whether nothing is known about the cells of a deployment, because the path from one of them is
// broken. That is no failure of the template. If the cell refuses the deployment, that is known.
func isSilent(d *v1alpha.WorkloadDeployment) bool {
	current := meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionStatusCurrent)
	return current != nil && current.Status == metav1.ConditionFalse && current.Reason != v1alpha.ReasonNotApplied
}

// countUpdated leaves out of the counts of a deployment the Instances that are not of the Workload's newest template.
func (s *summary) countUpdated(deployment *v1alpha.WorkloadDeployment) v1alpha.ReplicaCounts {
	counts := deployment.Status.ReplicaCounts
	version, err := templates.VersionOf(&deployment.Spec.Template)
	if err != nil || version.Hash != s.Template.Written || !countsTemplate(deployment, version) {
		counts.UpdatedReplicas, counts.UpdatedAvailableReplicas = 0, 0
	}
	return counts
}

// countsTemplate reports whether the cells of a deployment count the Instances of this template, and not of an earlier
// one.
func countsTemplate(deployment *v1alpha.WorkloadDeployment, version templates.Version) bool {
	return !slices.ContainsFunc(deployment.Status.Indices, func(c v1alpha.CellIndices) bool { return !version.Is(c.TemplateHash) })
}

// addRollout adds status.rollout and the conditions that follow from it.
func (s *summary) addRollout(status *v1alpha.WorkloadStatus, progressing *metav1.Condition) {
	status.Rollout = s.rolloutStatus()
	r := status.Rollout
	switch {
	case r.Phase == v1alpha.RolloutPaused && rollout.Unfinished(&s.rolling.state):
		progressing.Status, progressing.Reason, progressing.Message = metav1.ConditionUnknown, v1alpha.ReasonRolloutPaused, r.Message
	case progressing.Reason != v1alpha.ReasonSettled || rollout.Updated(&s.rolling.state):
	case r.Phase == v1alpha.RolloutProgressing || r.Phase == v1alpha.RolloutUndoing:
		s.addRolloutProgress(status, progressing)
	}
	s.addOverrides(progressing)
}

// cause is a reason why Instances cannot become Available, and what is known of it. The zero value is no cause.
type cause struct{ reason, message string }

// degraded returns condition Degraded: True with the cause while an Instance that got the template of a rollout cannot become
// Available, while a cell refuses that template, and while a city reports a cause. Instances that start, or that a drain has
// stopped, are no cause. Else it has the reason of condition Progressing, or of the suspension.
func (s *summary) degraded(rollout *v1alpha.WorkloadRolloutStatus, available, progressing *metav1.Condition) (metav1.Condition, error) {
	condition := metav1.Condition{Type: v1alpha.ConditionDegraded, Status: metav1.ConditionFalse, Reason: progressing.Reason}
	if available.Reason == v1alpha.ReasonProjectSuspended {
		condition.Reason = available.Reason
		return condition, nil
	}
	var found cause
	if rollout.Phase != v1alpha.RolloutComplete && rollout.Phase != v1alpha.RolloutUndone {
		var err error
		if found, err = s.broken(); err != nil {
			return condition, err
		}
	}
	if found.reason == "" {
		found = s.reported()
	}
	if found.reason != "" {
		condition.Status, condition.Reason = metav1.ConditionTrue, found.reason
		condition.Message = reasons.Shorten(found.message, maxRolloutMessage)
	}
	return condition, nil
}

// reported is the most urgent cause that the deployments have for Instances that are not Ready.
func (s *summary) reported() (found cause) {
	for i := range s.Workload.Spec.Placements {
		for _, deployment := range s.deploymentsOf(s.Workload.Spec.Placements[i].Name) {
			for _, kind := range []string{v1alpha.ConditionReplicasReady, v1alpha.ConditionAvailable} {
				condition := meta.FindStatusCondition(deployment.Status.Conditions, kind)
				if condition == nil || condition.Status == metav1.ConditionTrue || !reasons.IsCause(kind, condition.Reason) {
					continue
				}
				if found.reason == "" || reasons.Compare(condition.Reason, found.reason) < 0 {
					found = cause{condition.Reason, deployment.Spec.CityCode + ": " + condition.Message}
				}
			}
		}
	}
	return found
}

// broken returns why the first Instance with the template of the rollout cannot become Available, or why a cell refuses to start
// one, with the remedy.
func (s *summary) broken() (cause, error) {
	if s.rolling.result.Phase == rollout.Complete {
		return cause{}, nil
	}
	for i := range s.rolling.state.Cities {
		city := &s.rolling.state.Cities[i]
		if city.Template != s.Template.Target {
			continue
		}
		if found := refusal(s.rolling.cities[i]); found.reason != "" {
			return cause{found.reason, city.Code + ": " + found.message}, nil
		}
		for _, index := range city.Broken() {
			name := naming.InstanceName(city.Name, index)
			instance, err := s.Instance(name)
			if err != nil {
				return cause{}, err
			}
			if instance == nil {
				continue
			}
			ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReady)
			if ready == nil || ready.Status == metav1.ConditionTrue || !reasons.IsCause(v1alpha.ConditionReady, ready.Reason) {
				continue
			}
			remedy, _ := reasons.Of(v1alpha.ConditionReady, ready.Reason)
			return cause{ready.Reason, fmt.Sprintf("%s: Instance %s: %s: %s. %s", city.Code, name, ready.Reason, ready.Message,
				remedy.After(remedy.Normal+1).Do)}, nil
		}
	}
	return cause{}, nil
}

// refusal returns why a cell of a deployment refuses its template, with the remedy. A report on an earlier
// generation is about an earlier template.
func refusal(d *v1alpha.WorkloadDeployment) cause {
	accepted := meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionTemplateAccepted)
	if accepted == nil || accepted.Status != metav1.ConditionFalse || accepted.ObservedGeneration != d.Generation {
		return cause{}
	}
	remedy, _ := reasons.Of(v1alpha.ConditionTemplateAccepted, accepted.Reason)
	return cause{accepted.Reason, fmt.Sprintf("%s: %s. %s", accepted.Reason, accepted.Message, remedy.After(remedy.Normal+1).Do)}
}
