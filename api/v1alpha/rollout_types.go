// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutFailurePolicy is the reaction to a rollout that makes no progress for progressDeadlineSeconds.
// +kubebuilder:validation:Enum=Pause;Undo
type RolloutFailurePolicy string

const (
	// RolloutPause leaves the Instances as they are. The rollout continues when they become Available, or with another
	// template.
	RolloutPause RolloutFailurePolicy = "Pause"
	// RolloutUndo gives all Instances the last template that was rolled out completely. The template of the Workload
	// stays.
	RolloutUndo RolloutFailurePolicy = "Undo"
)

// PauseAfterFirstCity is the value of pauseAfter that pauses a rollout after its first city.
const PauseAfterFirstCity = "FirstCity"

// WorkloadRollout controls the update of a Workload's Instances to a new template. Without it, one city is updated
// after another: in the first city one Instance alone, then the others as maxUnavailable and the management policy
// allow.
type WorkloadRollout struct {
	// progressDeadlineSeconds is how long the Instances in a city may make no progress towards the spec before
	// condition Progressing is False with reason ProgressDeadlineExceeded. Progress is a change of the spec, an
	// Instance that becomes Available or gets the current template, and one of an earlier template that is deleted. The
	// add-on continues after the deadline. Without the field it is 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// maxUnavailable limits the Instances that may be unavailable while a new template replaces an old one: a number, or a
	// percentage that is rounded down, but at least 1. It holds in each cell, for the Instances that a deployment has
	// there with policy Parallel, and over all cities, for all Instances of the Workload. Without it, it is 25%.
	// OrderedReady replaces one after the other in each cell.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// maxSurge is how many additional Instances run while a new template replaces an old one, over all cities: a number,
	// or a percentage of all Instances that is rounded up. A city gets its additional Instances with the new template
	// before any of its Instances is replaced, and loses them at the end. Without it, each city with a single Instance
	// gets one, unless the template has onNodeLoss Wait; 0 disables it. Instances that metrics scale have none. If the
	// additional Instances wait for quota or capacity for 30 seconds, the Instances of the city are replaced without them.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// cityOrder is the order in which cities get a new template. The first city is the canary. Other cities follow in the
	// order of their codes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=48
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=16
	CityOrder []string `json:"cityOrder,omitempty"`

	// citiesAtOnce is how many cities are updated at once after the first Instance. Without it, it is 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=48
	CitiesAtOnce *int32 `json:"citiesAtOnce,omitempty"`

	// batch is how many Instances of the Workload get a new template at once after the first one: a number, or a
	// percentage of all Instances that is rounded down, but at least 1. The next batch follows when these Instances are
	// Available. Without it, a city is one batch.
	// +optional
	// +kubebuilder:validation:XIntOrString
	Batch *intstr.IntOrString `json:"batch,omitempty"`

	// pauseAfter pauses a rollout once that many Instances are Available with the new template: a number, a percentage of
	// all Instances that is rounded up, or FirstCity for all Instances of the first city. `kubectl compute rollout resume`
	// continues.
	// +optional
	// +kubebuilder:validation:XIntOrString
	PauseAfter *intstr.IntOrString `json:"pauseAfter,omitempty"`

	// paused stops rollouts: no further Instance gets a new template.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// onFailure is Pause or Undo. Without it, it is Pause.
	// +optional
	OnFailure RolloutFailurePolicy `json:"onFailure,omitempty"`

	// revisionHistoryLimit is how many earlier templates are kept as WorkloadRevisions. Without it, it is 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// onDataChange makes changes of the ConfigMaps and Secrets that the template names a rollout. Without it, each cell gets
	// the new content at once, as in Kubernetes.
	// +optional
	OnDataChange *OnDataChange `json:"onDataChange,omitempty"`
}

// defaultProgressDeadline and defaultHistoryLimit are the defaults of Kubernetes' Deployments.
const (
	defaultProgressDeadline = 600 * time.Second
	defaultHistoryLimit     = 10
)

// ProgressDeadline is the time for which Instances may make no progress. r may be nil.
func (r *WorkloadRollout) ProgressDeadline() time.Duration {
	if r == nil || r.ProgressDeadlineSeconds == nil {
		return defaultProgressDeadline
	}
	return time.Duration(*r.ProgressDeadlineSeconds) * time.Second
}

// HistoryLimit is how many earlier templates are kept. r may be nil.
func (r *WorkloadRollout) HistoryLimit() int {
	if r == nil || r.RevisionHistoryLimit == nil {
		return defaultHistoryLimit
	}
	return int(*r.RevisionHistoryLimit)
}

// Unavailable is how many of so many Instances may be unavailable while they are replaced: at least 1. r may be nil.
func (r *WorkloadRollout) Unavailable(instances int) int {
	const percent = 25
	most := intstr.FromString(strconv.Itoa(percent) + "%")
	if r != nil && r.MaxUnavailable != nil {
		most = *r.MaxUnavailable
	}
	// Admission refuses a value that is neither a number nor a percentage.
	value, _ := intstr.GetScaledValueFromIntOrPercent(&most, instances, false)
	return max(1, value)
}

// Surge is how many additional Instances may run while so many Instances are replaced; explicit is false when the
// Workload does not set it. r may be nil.
func (r *WorkloadRollout) Surge(instances int) (most int, explicit bool) {
	if r == nil || r.MaxSurge == nil {
		return 0, false
	}
	value, _ := intstr.GetScaledValueFromIntOrPercent(r.MaxSurge, instances, true)
	return max(0, value), true
}

// RefusesSurge reports whether the Workload wants no additional Instances. r may be nil.
func (r *WorkloadRollout) RefusesSurge() bool {
	most, explicit := r.Surge(1)
	return explicit && most == 0
}

// BatchOf is how many of so many Instances get a new template at once; 0: there is no limit. r may be nil.
func (r *WorkloadRollout) BatchOf(instances int) int {
	if r == nil || r.Batch == nil {
		return 0
	}
	value, _ := intstr.GetScaledValueFromIntOrPercent(r.Batch, instances, false)
	return max(1, value)
}

// PauseAfterOf is how many of so many Instances have a new template when the rollout pauses; 0: it does not, or after
// the first city if first is true. r may be nil.
func (r *WorkloadRollout) PauseAfterOf(instances int) (after int, first bool) {
	switch {
	case r == nil || r.PauseAfter == nil:
		return 0, false
	case r.PauseAfter.Type == intstr.String && strings.EqualFold(r.PauseAfter.StrVal, PauseAfterFirstCity):
		return 0, true
	}
	value, _ := intstr.GetScaledValueFromIntOrPercent(r.PauseAfter, instances, true)
	return max(1, value), false
}

// ForDeployments returns the part of its rollout that a Workload's deployments get; nil if that is empty. r may be nil.
func (r *WorkloadRollout) ForDeployments() *WorkloadRollout {
	if r == nil || r.MaxUnavailable == nil && r.ProgressDeadlineSeconds == nil && r.Batch == nil {
		return nil
	}
	copied := r.DeepCopy()
	return &WorkloadRollout{
		MaxUnavailable: copied.MaxUnavailable, ProgressDeadlineSeconds: copied.ProgressDeadlineSeconds, Batch: copied.Batch,
	}
}

// ForCells returns the part of a rollout that cells need; nil if they need none of it. r may be nil.
func (r *WorkloadRollout) ForCells() *WorkloadRollout {
	if r == nil || r.MaxUnavailable == nil && r.Batch == nil {
		return nil
	}
	copied := r.DeepCopy()
	return &WorkloadRollout{MaxUnavailable: copied.MaxUnavailable, Batch: copied.Batch}
}

// RollsOutData reports whether a change of data is a rollout. r may be nil.
func (r *WorkloadRollout) RollsOutData() bool {
	return r != nil && r.OnDataChange != nil && r.OnDataChange.Policy == DataRollout
}

// AnnotationRolloutResumed is the annotation by which a consumer continues a rollout that has paused at pauseAfter: its
// value is status.rollout.templateHash of the Workload.
const AnnotationRolloutResumed = "compute.datumapis.com/rollout-resumed"

// RolloutPhase is the phase of a rollout.
// +kubebuilder:validation:Enum=Progressing;Paused;Complete;Failed;Undoing;Undone
type RolloutPhase string

const (
	// RolloutProgressing rollouts have Instances that get the template, or wait for it.
	RolloutProgressing RolloutPhase = "Progressing"
	// RolloutPaused rollouts wait for a user.
	RolloutPaused RolloutPhase = "Paused"
	// RolloutComplete rollouts have all Instances Available with the template.
	RolloutComplete RolloutPhase = "Complete"
	// RolloutFailed rollouts made no progress for progressDeadlineSeconds.
	RolloutFailed RolloutPhase = "Failed"
	// RolloutUndoing rollouts failed, and their Instances get the last template that was complete.
	RolloutUndoing RolloutPhase = "Undoing"
	// RolloutUndone rollouts failed, and no Instance has their template.
	RolloutUndone RolloutPhase = "Undone"
)

// WorkloadRolloutStatus is the state of the rollout of a Workload's template.
type WorkloadRolloutStatus struct {
	// phase of the rollout.
	// +optional
	Phase RolloutPhase `json:"phase,omitempty"`

	// revision is the number of the template of the Workload in its history; 0: the project has no WorkloadRevisions.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// templateHash is the hash of the template of the Workload.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	TemplateHash string `json:"templateHash,omitempty"`

	// completeTemplateHash is the hash of the last template that all Instances had and were Available with.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	CompleteTemplateHash string `json:"completeTemplateHash,omitempty"`

	// failedTemplateHash is the hash of the template whose rollout has failed and is undone.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	FailedTemplateHash string `json:"failedTemplateHash,omitempty"`

	// city is the city that the rollout is in.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	City string `json:"city,omitempty"`

	// message names the cause of a wait.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// WorkloadRevisionSpec is a template that a Workload has or had.
type WorkloadRevisionSpec struct {
	// revision is the number of the template: each change of a Workload's template has a higher number. A Workload that
	// gets an earlier template again gives it a new number.
	// +required
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision"`

	// template of the Instances. It never changes.
	// +required
	Template InstanceTemplateSpec `json:"template"`

	// data are the ConfigMaps and Secrets that the Instances are started with, if a change of them is a rollout.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Data []DataVersion `json:"data,omitempty"`
}

// WorkloadRevision is an entry in the history of a Workload. Only the add-on writes it.
//
// +genclient
// +genclient:noStatus
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=wlrev,categories=compute
// +kubebuilder:printcolumn:name="Workload",type=string,JSONPath=`.metadata.labels.compute\.datumapis\.com/workload-name`
// +kubebuilder:printcolumn:name="Revision",type=integer,JSONPath=`.spec.revision`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type WorkloadRevision struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec WorkloadRevisionSpec `json:"spec"`
}

// WorkloadRevisionList is a list of WorkloadRevisions.
//
// +kubebuilder:object:root=true
type WorkloadRevisionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WorkloadRevision `json:"items"`
}

// FloorOf returns a copy of the floor of a deployment; nil: it has none. s may be nil.
func (s *WorkloadDisruptionStatus) FloorOf(deployment string) *AvailabilityFloor {
	if s == nil {
		return nil
	}
	for i := range s.Floors {
		if of := &s.Floors[i]; of.Deployment == deployment {
			return of.AvailabilityFloor.DeepCopy()
		}
	}
	return nil
}
