// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
)

// Types reports the existing instance types. instancetypes.Catalogue implements it.
type Types interface {
	// Types returns the types of the last answer; it may be slightly old: before a type is reported as missing, call
	// Fresh.
	Types(ctx context.Context) ([]v1alpha.InstanceType, error)
	// Fresh reads the present types. An error is no answer.
	Fresh(ctx context.Context) ([]v1alpha.InstanceType, error)
	// Confirmed returns the types that the hub has confirmed within age: call it before a deployment takes its size
	// from a type.
	Confirmed(ctx context.Context, age time.Duration) ([]v1alpha.InstanceType, error)
	// Grace returns how long after its deprecation a type may be named by new Workloads, and the present time.
	Grace() (grace time.Duration, now time.Time)
}

// instanceType is the instance type of a Workload, and the answer about it.
type instanceType struct {
	// name of it; "" if the Workload names none and no default exists.
	name string
	// ofDefault: the Workload names none.
	ofDefault bool
	// found is nil if no type has that name.
	found *v1alpha.InstanceType
	// usable are the names of the usable types.
	usable []string
	// unchecked: no types are available to check against; err: the hub gave no answer.
	unchecked bool
	err       error
}

// findType looks up the instance type of the Workload.
func (s *scope) findType(ctx context.Context) error {
	spelled := s.workload.Spec.Template.Spec.Runtime.Resources.InstanceType
	s.kind = instanceType{ofDefault: spelled == "", unchecked: s.Types == nil}
	if s.kind.ofDefault {
		spelled = s.DefaultType
	}
	s.kind.name = v1alpha.InstanceTypeName(spelled)
	if s.kind.unchecked {
		return nil
	}
	types, err := s.Types.Types(ctx)
	if s.kind.found = v1alpha.FindInstanceType(types, spelled); s.kind.found == nil && err == nil {
		types, err = s.Types.Fresh(ctx)
		s.kind.found = v1alpha.FindInstanceType(types, spelled)
	}
	s.kind.usable = v1alpha.UsableInstanceTypes(types)
	if s.kind.unchecked = errors.Is(err, instancetypes.ErrNotServed); !s.kind.unchecked {
		// Only a deployment that has no size yet needs an answer.
		s.kind.err = err
	}
	return nil
}

// confirmType looks the type up again before a deployment takes its size from it, unless the hub has confirmed it
// recently: admission may have admitted the Workload before it knew that the type is disabled.
func (s *scope) confirmType(ctx context.Context) {
	takes := func(desired *v1alpha.WorkloadDeployment) bool { return len(s.recorded(desired)) == 0 }
	if s.kind.unchecked || s.kind.err != nil || s.kind.found == nil || !slices.ContainsFunc(s.plan.deployments, takes) {
		return
	}
	types, err := s.Types.Confirmed(ctx, instancetypes.StartedWithin)
	if s.kind.unchecked = errors.Is(err, instancetypes.ErrNotServed); s.kind.unchecked {
		return
	}
	s.kind.found, s.kind.err = v1alpha.FindInstanceType(types, s.kind.name), err
	s.kind.usable = v1alpha.UsableInstanceTypes(types)
}

// recordSizes sets the size of every planned deployment: the recorded one as long as the type is the same, so that a
// change of the type resizes no Instance, else the present one of the type. A deployment of a type that does not exist
// or is disabled is not created, and an existing one keeps its template.
func (s *scope) recordSizes(ctx context.Context) error {
	s.confirmType(ctx)
	kept := make([]*v1alpha.WorkloadDeployment, 0, len(s.plan.deployments))
	for _, desired := range s.plan.deployments {
		existing := s.existing[desired.Name]
		exists := existing != nil && sameDeployment(existing, desired)
		desired.Spec.InstanceTypeResources = s.recorded(desired)
		switch {
		case len(desired.Spec.InstanceTypeResources) > 0 || s.kind.unchecked:
		case s.kind.err != nil:
			return fmt.Errorf("look up instance type %s: %w", s.kind.name, s.kind.err)
		case s.kind.found != nil && (s.kind.found.IsUsable() || exists && sameType(existing, desired)):
			desired.Spec.InstanceTypeResources = s.kind.found.Spec.Resources.DeepCopy()
		case exists && sameType(existing, desired):
			// It has been running since before sizes were recorded.
		case exists:
			desired.Spec.Template = *existing.Spec.Template.DeepCopy()
			desired.Spec.InstanceTypeResources = existing.Spec.InstanceTypeResources.DeepCopy()
			s.plan.block(desired, s.kind.missing()+"; the template that it had stays")
		default:
			s.plan.block(desired, s.kind.missing())
			s.plan.unsized[desired.Spec.PlacementName] = s.kind.reason()
			continue
		}
		kept = append(kept, desired)
	}
	s.plan.deployments = kept
	return nil
}

// recorded returns the size of the type that desired names, recorded in the deployment itself or else in another one of
// the Workload.
func (s *scope) recorded(desired *v1alpha.WorkloadDeployment) corev1.ResourceList {
	for _, name := range append([]string{desired.Name}, slices.Sorted(maps.Keys(s.existing))...) {
		other := s.existing[name]
		if other != nil && sameType(other, desired) && len(other.Spec.InstanceTypeResources) > 0 {
			return other.Spec.InstanceTypeResources.DeepCopy()
		}
	}
	return nil
}

func sameType(a, b *v1alpha.WorkloadDeployment) bool {
	return v1alpha.InstanceTypeName(a.Spec.Template.Spec.Runtime.Resources.InstanceType) ==
		v1alpha.InstanceTypeName(b.Spec.Template.Spec.Runtime.Resources.InstanceType)
}

// missing returns the message that the type does not exist, or is disabled.
func (k *instanceType) missing() string {
	if k.found != nil {
		return fmt.Sprintf("instance type %s is disabled%s", k.found.Name, insteadOf(k.found))
	}
	have := "there is none"
	if len(k.usable) > 0 {
		have = "there are " + strings.Join(k.usable, ", ")
	}
	switch {
	case k.name == "":
		return "the template names no instance type, and the operator has set no default; " + have
	case k.ofDefault:
		return fmt.Sprintf("the template names no instance type, and the operator's default %s does not exist; %s", k.name, have)
	}
	return fmt.Sprintf("instance type %s does not exist; %s", k.name, have)
}

func (k *instanceType) reason() string {
	if k.found != nil {
		return v1alpha.ReasonInstanceTypeDisabled
	}
	if k.ofDefault {
		return v1alpha.ReasonDefaultInstanceTypeNotFound
	}
	return v1alpha.ReasonInstanceTypeNotFound
}

// typeConditions returns the conditions of the Workload about its type: conditions that are True, and conditions that
// were.
func (s *scope) typeConditions() []metav1.Condition {
	if s.kind.unchecked || s.kind.err != nil {
		return nil
	}
	deprecated := metav1.Condition{
		Type: v1alpha.ConditionInstanceTypeDeprecated, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonInstanceTypeUsable,
	}
	disabled := metav1.Condition{
		Type: v1alpha.ConditionInstanceTypeDisabled, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonInstanceTypeUsable,
	}
	switch found := s.kind.found; {
	case found == nil:
		disabled.Status, disabled.Reason = metav1.ConditionTrue, s.kind.reason()
		disabled.Message = s.kind.missing() + ": what runs stays as it is"
	case found.Spec.Lifecycle.Phase == v1alpha.InstanceTypeDisabled:
		disabled.Status, disabled.Reason = metav1.ConditionTrue, v1alpha.ReasonInstanceTypeDisabled
		disabled.Message = fmt.Sprintf("instance type %s is disabled%s: what runs stays, and no more Instances can be asked for", found.Name,
			insteadOf(found))
	case found.Spec.Lifecycle.Phase == v1alpha.InstanceTypeDeprecated:
		deprecated.Status, deprecated.Reason = metav1.ConditionTrue, v1alpha.ReasonInstanceTypeDeprecated
		deprecated.Message = fmt.Sprintf("instance type %s is deprecated%s%s", found.Name, s.refusedFrom(found), insteadOf(found))
	}
	var result []metav1.Condition
	for _, condition := range []metav1.Condition{deprecated, disabled} {
		if condition.Status == metav1.ConditionTrue || meta.FindStatusCondition(s.workload.Status.Conditions, condition.Type) != nil {
			result = append(result, condition)
		}
	}
	return result
}

func insteadOf(kind *v1alpha.InstanceType) string {
	if replacement := kind.Spec.Lifecycle.ReplacementInstanceType; replacement != "" {
		return "; use " + v1alpha.InstanceTypeName(replacement)
	}
	return ""
}

// refusedFrom returns the message with the day from which new Workloads are refused a deprecated type. The text does
// not depend on the present time: a condition must not change without a cause.
func (s *scope) refusedFrom(kind *v1alpha.InstanceType) string {
	grace, _ := s.Types.Grace()
	ends, ending := kind.GraceEnds(grace)
	if !ending {
		return ""
	}
	return fmt.Sprintf(" since %s, and new Workloads are refused it from %s",
		kind.Status.DeprecatedAt.UTC().Format(time.DateOnly), ends.UTC().Format(time.DateOnly))
}

// warnOfType records an event when a condition about the type becomes True.
func (s *scope) warnOfType(next v1alpha.WorkloadStatus) {
	for _, name := range []string{v1alpha.ConditionInstanceTypeDeprecated, v1alpha.ConditionInstanceTypeDisabled} {
		after := meta.FindStatusCondition(next.Conditions, name)
		if after == nil || after.Status != metav1.ConditionTrue || meta.IsStatusConditionTrue(s.workload.Status.Conditions, name) {
			continue
		}
		s.events.Eventf(s.workload, corev1.EventTypeWarning, after.Reason, "%s", after.Message)
	}
}
