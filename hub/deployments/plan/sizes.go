// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// InstanceType is the instance type of a Workload, and the answer about it.
type InstanceType struct {
	// Name of it; "" if the Workload names none and no default exists.
	Name string
	// OfDefault: the Workload names none.
	OfDefault bool
	// Found is nil if no type has that name.
	Found *v1alpha.InstanceType
	// Usable are the names of the usable types.
	Usable []string
	// Unchecked: no types are available to check against; Err: the hub gave no answer.
	Unchecked bool
	Err       error
	// Grace is how long after its deprecation a type may be named by new Workloads.
	Grace time.Duration
}

// TakesSize reports whether a deployment gets its size from the type: the type must then be confirmed, since admission may have
// admitted the Workload before it knew that the type is disabled.
func TakesSize(f *Facts) bool {
	placed := place(f)
	return slices.ContainsFunc(placed.intents, func(i *intent) bool { return len(f.recorded(i)) == 0 })
}

// SizeOf is the size of an Instance of the Workload's template; empty: it is not known.
func SizeOf(f *Facts) corev1.ResourceList {
	template := &f.Workload.Spec.Template
	size := f.recordedFor(template, "")
	if len(size) == 0 && f.Type.Found != nil {
		size = f.Type.Found.Spec.Resources
	}
	return templates.InstanceSize(&template.Spec, size)
}

// size sets the size of every deployment: the recorded one as long as the type is the same, so that a change of the type resizes
// no Instance, else the present one of the type. A deployment of a type that does not exist or is disabled is not created, and
// an existing one keeps its template.
func (p *Plan) size() error {
	sized := make([]*intent, 0, len(p.intents))
	for _, i := range p.intents {
		i.resources = p.recorded(i)
		same := i.existing != nil && sameType(&i.existing.Spec.Template, i.template)
		switch {
		case len(i.resources) > 0 || p.Type.Unchecked:
		case p.Type.Err != nil:
			return fmt.Errorf("look up instance type %s: %w", p.Type.Name, p.Type.Err)
		case p.Type.Found != nil && (p.Type.Found.IsUsable() || same):
			i.resources = p.Type.Found.Spec.Resources
		case same:
			// It has been running since before sizes were recorded.
		case i.existing != nil:
			i.template, i.resources = &i.existing.Spec.Template, i.existing.Spec.InstanceTypeResources
			p.block(i, p.Type.missing()+"; the template that it had stays")
		default:
			p.block(i, p.Type.missing())
			p.unsized[i.placement.Name] = p.Type.reason()
			continue
		}
		sized = append(sized, i)
	}
	p.intents = sized
	return nil
}

// recorded returns the size of the type that a deployment is to have.
func (f *Facts) recorded(i *intent) corev1.ResourceList { return f.recordedFor(i.template, i.name) }

// recordedFor returns the size of the type of a template, recorded in the deployment with a name or else in another one of the Workload.
func (f *Facts) recordedFor(template *v1alpha.InstanceTemplateSpec, first string) corev1.ResourceList {
	for _, name := range append([]string{first}, slices.Sorted(maps.Keys(f.Deployments))...) {
		other := f.Deployments[name]
		if other != nil && sameType(&other.Spec.Template, template) && len(other.Spec.InstanceTypeResources) > 0 {
			return other.Spec.InstanceTypeResources
		}
	}
	return nil
}

func sameType(a, b *v1alpha.InstanceTemplateSpec) bool {
	return v1alpha.InstanceTypeName(a.Spec.Runtime.Resources.InstanceType) == v1alpha.InstanceTypeName(b.Spec.Runtime.Resources.InstanceType)
}

// missing returns the message that the type does not exist, or is disabled.
func (t *InstanceType) missing() string {
	if t.Found != nil {
		return fmt.Sprintf("instance type %s is disabled%s", t.Found.Name, insteadOf(t.Found))
	}
	have := "the operator offers no type"
	if len(t.Usable) > 0 {
		have = "there are " + strings.Join(t.Usable, ", ")
	}
	switch {
	case t.Name == "":
		return "the template names no instance type, and the operator has set no default; " + have
	case t.OfDefault:
		return fmt.Sprintf("the template names no instance type, and the operator's default %s does not exist; %s", t.Name, have)
	}
	return fmt.Sprintf("instance type %s does not exist; %s", t.Name, have)
}

func (t *InstanceType) reason() string {
	if t.Found != nil {
		return v1alpha.ReasonInstanceTypeDisabled
	}
	if t.OfDefault {
		return v1alpha.ReasonDefaultInstanceTypeNotFound
	}
	return v1alpha.ReasonInstanceTypeNotFound
}

// typeConditions returns the conditions of the Workload about its type: conditions that are True, and conditions that
// were.
func (s *summary) typeConditions() []metav1.Condition {
	if s.Type.Unchecked || s.Type.Err != nil {
		return nil
	}
	deprecated := metav1.Condition{
		Type: v1alpha.ConditionInstanceTypeDeprecated, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonInstanceTypeUsable,
	}
	disabled := metav1.Condition{
		Type: v1alpha.ConditionInstanceTypeDisabled, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonInstanceTypeUsable,
	}
	switch found := s.Type.Found; {
	case found == nil:
		disabled.Status, disabled.Reason = metav1.ConditionTrue, s.Type.reason()
		disabled.Message = s.Type.missing() + ": what runs stays as it is"
	case found.Spec.Lifecycle.Phase == v1alpha.InstanceTypeDisabled:
		disabled.Status, disabled.Reason = metav1.ConditionTrue, v1alpha.ReasonInstanceTypeDisabled
		disabled.Message = fmt.Sprintf("instance type %s is disabled%s: what runs stays, and no more Instances can be asked for", found.Name,
			insteadOf(found))
	case found.Spec.Lifecycle.Phase == v1alpha.InstanceTypeDeprecated:
		deprecated.Status, deprecated.Reason = metav1.ConditionTrue, v1alpha.ReasonInstanceTypeDeprecated
		deprecated.Message = fmt.Sprintf("instance type %s is deprecated%s%s", found.Name, s.Type.refusedFrom(), insteadOf(found))
	}
	var result []metav1.Condition
	for _, condition := range []metav1.Condition{deprecated, disabled} {
		if condition.Status == metav1.ConditionTrue || meta.FindStatusCondition(s.Workload.Status.Conditions, condition.Type) != nil {
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
func (t *InstanceType) refusedFrom() string {
	ends, ending := t.Found.GraceEnds(t.Grace)
	if !ending {
		return ""
	}
	return fmt.Sprintf(" since %s, and new Workloads are refused it from %s",
		t.Found.Status.DeprecatedAt.UTC().Format(time.DateOnly), ends.UTC().Format(time.DateOnly))
}

// Answered records an answer about all instance types, or the error instead of an answer. notServed: the hub has no types to check against.
func (t *InstanceType) Answered(types []v1alpha.InstanceType, err error, notServed bool) {
	if t.Unchecked = notServed; notServed {
		return
	}
	// Only a deployment that has no size yet needs an answer.
	t.Found, t.Err = v1alpha.FindInstanceType(types, t.Name), err
	t.Usable = v1alpha.UsableInstanceTypes(types)
}
