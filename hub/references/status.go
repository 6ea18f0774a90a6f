// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

// maxMessage bounds the message of the condition, in bytes.
const maxMessage = 1024

// reasons are those of findings, the one that is shown first when there are several.
var reasons = []string{
	v1alpha.ReasonSourceNotFound, v1alpha.ReasonSourceTooLarge, v1alpha.ReasonSourceRefused, v1alpha.ReasonSourceUnauthorized, v1alpha.ReasonResolving,
}

// writeConditions says on each deployment what has become of the data that it names.
func (p *pass) writeConditions(ctx context.Context) error {
	var failed failures
	for _, d := range p.deployments {
		if d.original.DeletionTimestamp.IsZero() {
			failed.add(p.writeCondition(ctx, d))
		}
	}
	return failed.err()
}

func (p *pass) writeCondition(ctx context.Context, d *deployment) error {
	existing := meta.FindStatusCondition(d.original.Status.Conditions, v1alpha.ConditionReferencedDataReady)
	if len(d.named) == 0 {
		if existing == nil {
			return nil
		}
		return apply.Conditions(ctx, p.project, Owner, d.original)
	}
	if existing != nil && d.isUnknown(p.objects) {
		// What was known before says more than that one try failed.
		return nil
	}
	condition := desiredCondition(d, p.objects)
	condition.ObservedGeneration = d.original.Generation
	condition.LastTransitionTime = metav1.NewTime(p.Clock.Now()).Rfc3339Copy()
	var one []metav1.Condition
	if existing != nil {
		one = append(one, *existing)
	}
	meta.SetStatusCondition(&one, condition)
	if existing != nil && equality.Semantic.DeepEqual(*existing, one[0]) {
		return nil
	}
	return apply.Conditions(ctx, p.project, Owner, d.original, one[0])
}

// desiredCondition says of a deployment that names something what has become of it.
func desiredCondition(d *deployment, objects map[item]*object) metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionReferencedDataReady, Status: metav1.ConditionFalse}
	found := d.problems(objects)
	switch report := reportOf(d.copied); {
	case len(found) > 0:
		condition.Reason = found[0].reason
		var messages []string
		for _, one := range found {
			messages = append(messages, one.message)
		}
		condition.Message = bounded(messages)
	case d.copied == nil:
		condition.Reason = v1alpha.ReasonAwaitingPropagation
		condition.Message = "the deployment is on its way to the hub"
	case report.missing != "":
		condition.Reason, condition.Message = v1alpha.ReasonAwaitingPropagation, report.missing
	case !report.arrived:
		condition.Reason = v1alpha.ReasonAwaitingPropagation
		condition.Message = fmt.Sprintf("waiting for the cell of %s to report that it has the data", d.original.Spec.CityCode)
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonReferencedDataPresent
		condition.Message = "every ConfigMap and Secret that the template names is in the cell"
	}
	return condition
}

// isUnknown says whether something that a deployment names could not be read just now.
func (d *deployment) isUnknown(objects map[item]*object) bool {
	for o := range d.of(objects) {
		if o.unknown {
			return true
		}
	}
	return false
}

// problems are what keeps the data of a deployment back, by reason, kind and name. An optional object may be missing.
func (d *deployment) problems(objects map[item]*object) []finding {
	if d.hubNamespace == "" {
		return []finding{{reason: v1alpha.ReasonResolving, message: "the deployment has no place on the hub yet"}}
	}
	var found []finding
	for _, o := range inOrder(d.of(objects)) {
		if needed := d.named[reference{o.kind, o.name}]; o.reason != "" && (needed || o.reason != v1alpha.ReasonSourceNotFound) {
			found = append(found, o.finding)
		}
	}
	if sum := d.together(objects); sum > maxTogether {
		found = append(found, finding{reason: v1alpha.ReasonSourceTooLarge, message: fmt.Sprintf(
			"what the template names holds %d bytes together and at most %d are carried to cells; make it smaller or name fewer objects",
			sum, maxTogether)})
	}
	slices.SortStableFunc(found, func(a, b finding) int {
		return slices.Index(reasons, a.reason) - slices.Index(reasons, b.reason)
	})
	return found
}

// report is what the cells of a deployment say of its data.
type report struct {
	// arrived says that an Instance of the current template has all of it.
	arrived bool
	// missing is what an Instance of the current template lacks, in the cell's words.
	missing string
}

// reportOf is what the cells say on a hub deployment. Instances of earlier templates do not count: they name other data.
func reportOf(copied *v1alpha.WorkloadDeployment) report {
	if copied == nil || len(namedBy(&copied.Spec.Template.Spec)) == 0 {
		return report{}
	}
	hash, err := v1alpha.TemplateHash(&copied.Spec.Template)
	if err != nil {
		// A template that cannot be hashed has no Instances.
		return report{}
	}
	var result report
	for i := range copied.Status.Instances {
		instance := &copied.Status.Instances[i]
		condition := meta.FindStatusCondition(instance.Conditions, v1alpha.ConditionReferencedDataReady)
		switch {
		case instance.TemplateHash != hash || condition == nil:
		case condition.Status == metav1.ConditionTrue:
			result.arrived = true
		case result.missing == "":
			result.missing = condition.Message
		}
	}
	return result
}

// bounded joins messages, as many as fit, and says how many it leaves out.
func bounded(messages []string) string {
	joined := strings.Join(messages, "; ")
	for kept := len(messages) - 1; len(joined) > maxMessage && kept > 0; kept-- {
		joined = fmt.Sprintf("%s; and %d more", strings.Join(messages[:kept], "; "), len(messages)-kept)
	}
	return joined
}
