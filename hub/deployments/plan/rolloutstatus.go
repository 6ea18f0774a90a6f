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

// degraded returns condition Degraded: True while an Instance that got the template of a rollout cannot become
// Available, and while a cell refuses that template. A Workload that has never had either does not have the condition.
// An Instance that ceases to be Available without a rollout, as in a drain, does not degrade it.
func (s *summary) degraded(now *v1alpha.WorkloadRolloutStatus) ([]metav1.Condition, error) {
	condition := metav1.Condition{Type: v1alpha.ConditionDegraded, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonRolloutHealthy}
	message := ""
	if now.Phase != v1alpha.RolloutComplete && now.Phase != v1alpha.RolloutUndone {
		var err error
		if message, err = s.broken(); err != nil {
			return nil, err
		}
	}
	switch {
	case message != "":
		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, v1alpha.ReasonRolloutBlocked, message
	case meta.FindStatusCondition(s.Workload.Status.Conditions, v1alpha.ConditionDegraded) == nil:
		return nil, nil
	}
	return []metav1.Condition{condition}, nil
}

// broken returns the first Instance with the template of the rollout that cannot become Available, or the refusal of a
// cell to start one, the reason and the remedy; "": none.
func (s *summary) broken() (string, error) {
	if s.rolling.result.Phase == rollout.Complete {
		return "", nil
	}
	for i := range s.rolling.state.Cities {
		city := &s.rolling.state.Cities[i]
		if city.Template != s.Template.Target {
			continue
		}
		if message := refusal(s.rolling.cities[i]); message != "" {
			return reasons.Shorten(city.Code+": "+message, maxRolloutMessage), nil
		}
		for _, index := range city.Broken() {
			name := naming.InstanceName(city.Name, index)
			instance, err := s.Instance(name)
			if err != nil {
				return "", err
			}
			if instance == nil {
				continue
			}
			ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReady)
			if ready == nil || ready.Status == metav1.ConditionTrue {
				continue
			}
			if remedy, known := reasons.Of(v1alpha.ConditionReady, ready.Reason); known && remedy.Rank >= reasons.RankCause {
				return reasons.Shorten(fmt.Sprintf("%s: Instance %s: %s: %s. %s", city.Code, name, ready.Reason, ready.Message,
					remedy.After(remedy.Normal+1).Do), maxRolloutMessage), nil
			}
		}
	}
	return "", nil
}

// refusal returns why a cell of a deployment refuses its template, and the remedy; "": it does not. A report on an earlier
// generation is about an earlier template.
func refusal(d *v1alpha.WorkloadDeployment) string {
	accepted := meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionTemplateAccepted)
	if accepted == nil || accepted.Status != metav1.ConditionFalse || accepted.ObservedGeneration != d.Generation {
		return ""
	}
	remedy, _ := reasons.Of(v1alpha.ConditionTemplateAccepted, accepted.Reason)
	return fmt.Sprintf("%s: %s. %s", accepted.Reason, accepted.Message, remedy.After(remedy.Normal+1).Do)
}
