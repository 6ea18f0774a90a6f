// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// maxMessage bounds the message of the condition, in bytes.
const maxMessage = 1024

// writeConditions writes ReferencedDataReady to each deployment that names data, and removes it from the others.
func (s *scope) writeConditions(ctx context.Context) error {
	var failed []error
	for _, d := range s.deployments {
		if d.original.DeletionTimestamp.IsZero() {
			failed = append(failed, s.writeCondition(ctx, d))
		}
	}
	return errors.Join(failed...)
}

func (s *scope) writeCondition(ctx context.Context, d *deployment) error {
	existing := meta.FindStatusCondition(d.original.Status.Conditions, v1alpha.ConditionReferencedDataReady)
	if len(d.named) == 0 {
		if existing == nil {
			return nil
		}
		return apply.Conditions(ctx, s.project, FieldManager, d.original)
	}
	if existing != nil && d.isUnknown(s.objects) {
		// The present condition is more useful than a failed read.
		return nil
	}
	desired := desiredCondition(d, s.objects)
	if existing != nil && d.staysTrue(existing, &desired) {
		return nil
	}
	wanted := apply.StampedConditions(d.original.Status.Conditions,
		apply.Stamp{Generation: d.original.Generation, Now: s.Clock.Now()}, desired)
	if apply.IncludeConditions(d.original.Status.Conditions, wanted) {
		return nil
	}
	return apply.Conditions(ctx, s.project, FieldManager, d.original, wanted...)
}

// desiredCondition returns the condition of a deployment that names data.
func desiredCondition(d *deployment, objects map[item]*object) metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionReferencedDataReady, Status: metav1.ConditionFalse}
	found := d.problems(objects)
	switch report := reportOf(d.copied); {
	case len(found) > 0:
		condition.Reason = found[0].reason
		var messages []string
		for _, entry := range found {
			messages = append(messages, entry.message)
		}
		condition.Message = bounded(messages)
	case d.copied == nil:
		condition.Reason = v1alpha.ReasonAwaitingPropagation
		condition.Message = "the deployment has not reached the hub yet"
	case report.missing != "":
		condition.Reason, condition.Message = v1alpha.ReasonAwaitingPropagation, report.missing
	case !report.arrived:
		condition.Reason = v1alpha.ReasonAwaitingPropagation
		condition.Message = fmt.Sprintf("waiting for the cell of %s to report that it has the data", d.original.Spec.CityCode)
	case len(d.differing.kept) > 0:
		condition.Reason, condition.Message = v1alpha.ReasonReferencedDataDiffers, d.differing.message()
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonReferencedDataPresent
		condition.Message = "every ConfigMap and Secret that the template names is in the cell"
		if len(d.differing.overridden) > 0 {
			condition.Message = bounded(append([]string{condition.Message + "; override policies change"}, d.differing.overridden...))
		}
		if taken := d.taken(objects); taken != "" {
			condition.Reason, condition.Message = v1alpha.ReasonReferencedDataTaken, taken
		}
	}
	return condition
}

// staysTrue reports whether a condition that is True stays: a cell that had the data by its last report is silent, and no other
// cell lacks the data.
func (d *deployment) staysTrue(existing, desired *metav1.Condition) bool {
	if !d.silent || existing.Status != metav1.ConditionTrue || desired.Reason != v1alpha.ReasonAwaitingPropagation ||
		reportOf(d.copied).missing != "" {
		return false
	}
	if existing.ObservedGeneration == d.original.Generation {
		return true
	}
	// Instances of an earlier template name other data.
	version, err := templates.VersionOf(&d.original.Spec.Template)
	return err == nil && slices.ContainsFunc(d.original.Status.Indices, func(cell v1alpha.CellIndices) bool {
		return version.Is(cell.TemplateHash)
	})
}

// taken describes the copies of a deployment's data that policies of others propagate; "": none. Karmada propagates the
// add-on's copies with the deployments that name them: no policy claims them.
func (d *deployment) taken(objects map[item]*object) string {
	var messages []string
	for _, o := range inOrder(d.objectsIn(objects)) {
		if o.claimedBy != "" {
			messages = append(messages, fmt.Sprintf("%s propagates %s %s, too: it may be in cells where no deployment needs it",
				o.claimedBy, o.Kind, o.Name))
		}
	}
	return bounded(messages)
}

// claimOf returns the policy that claims a copy; "": none.
func claimOf(copied *metav1.PartialObjectMetadata) string {
	if copied == nil {
		return ""
	}
	if name := copied.Annotations[policyv1alpha1.PropagationPolicyNameAnnotation]; name != "" {
		return "PropagationPolicy " + name
	}
	if name := copied.Annotations[policyv1alpha1.ClusterPropagationPolicyAnnotation]; name != "" {
		return "ClusterPropagationPolicy " + name
	}
	return ""
}

// isUnknown reports whether an object that a deployment names could not be read in this reconcile.
func (d *deployment) isUnknown(objects map[item]*object) bool {
	for o := range d.objectsIn(objects) {
		if o.unknown {
			return true
		}
	}
	return false
}

// problems returns the findings that block the data of a deployment, by reason, kind and name. A missing optional
// object does not count.
func (d *deployment) problems(objects map[item]*object) []finding {
	if d.hubNamespace == "" {
		return []finding{{reason: v1alpha.ReasonResolving, message: "the deployment has no place on the hub yet"}}
	}
	var found []finding
	for _, o := range inOrder(d.objectsIn(objects)) {
		if needed := d.named[o.DataObject]; o.reason != "" && (needed || o.reason != v1alpha.ReasonSourceNotFound) {
			found = append(found, o.finding)
		}
	}
	if sum := d.together(objects); sum > maxTogether {
		found = append(found, finding{reason: v1alpha.ReasonSourceTooLarge, message: fmt.Sprintf(
			"the objects that the template names hold %d bytes together and at most %d are copied to cells; make them smaller or name fewer",
			sum, maxTogether)})
	}
	slices.SortStableFunc(found, compareFindings)
	return found
}

// report summarizes the reports of a deployment's cells about its data.
type report struct {
	// arrived: an Instance of the current template has all objects that it needs.
	arrived bool
	// missing is the cell's message about objects that an Instance of the current template lacks; or "".
	missing string
	// differing are the facts of the cells whose content differs for an Instance of the current template.
	differing []v1alpha.CellIndices
}

// reportOf returns the summary of the cells' reports on a deployment of the hub. Instances of earlier templates do not
// count: they name other data.
func reportOf(copied *v1alpha.WorkloadDeployment) report {
	if copied == nil || len(namedBy(copied.Spec.Templates())) == 0 {
		return report{}
	}
	version, err := templates.VersionOf(&copied.Spec.Template)
	if err != nil {
		// A template that cannot be hashed has no Instances.
		return report{}
	}
	var result report
	for i := range copied.Status.Indices {
		cell := &copied.Status.Indices[i]
		if !version.Is(cell.TemplateHash) {
			continue
		}
		result.arrived = result.arrived || cell.DataReady != ""
		result.missing = cmp.Or(result.missing, cell.DataMissing)
		if cell.DataDiffers != "" {
			result.differing = append(result.differing, *cell)
		}
	}
	return result
}

// bounded joins as many messages as fit into maxMessage, and appends the number of omitted messages.
func bounded(messages []string) string {
	joined := strings.Join(messages, "; ")
	for kept := len(messages) - 1; len(joined) > maxMessage && kept > 0; kept-- {
		joined = fmt.Sprintf("%s; and %d more", strings.Join(messages[:kept], "; "), len(messages)-kept)
	}
	return joined
}

const (
	// maxObject is the maximum size of one object, in bytes.
	maxObject = 256 << 10
	// maxTogether is the maximum size of all objects that one deployment names, in bytes.
	maxTogether = 1 << 20
	// rootCA is the ConfigMap that Kubernetes writes to each namespace of each cluster, with contents of that cluster.
	rootCA = "kube-root-ca.crt"
)

// finding is a problem of an object in the project, and the size of the object. The zero value is the finding of an
// object that can be copied.
type finding struct {
	// reason is why the object cannot be copied, or "".
	reason string
	// message describes the problem and the remedy.
	message string
	// bytes is the size of the object.
	bytes int
}

func compareFindings(a, b finding) int { return reasons.Compare(a.reason, b.reason) }

// examine reports whether an object of the project can be copied. The finding must not quote its contents.
func examine(source client.Object) finding {
	kind := kindOf(source)
	held := contentOf(source)
	switch {
	case source.GetName() == rootCA && kind == templates.KindConfigMap:
		return finding{reason: v1alpha.ReasonSourceRefused, message: fmt.Sprintf(
			"ConfigMap %s comes from each cluster for itself and is not copied to cells; name a ConfigMap of your own", rootCA)}
	case held.secretType == corev1.SecretTypeServiceAccountToken:
		return finding{reason: v1alpha.ReasonSourceRefused, message: fmt.Sprintf(
			"Secret %s has type %s, which is valid only in its own cluster, and is not copied to cells; name a Secret of another type",
			source.GetName(), held.secretType)}
	case held.size() > maxObject:
		return finding{bytes: held.size(), reason: v1alpha.ReasonSourceTooLarge, message: fmt.Sprintf(
			"%s %s holds %d bytes and at most %d are copied to cells; make it smaller or split it", kind, source.GetName(), held.size(), maxObject)}
	}
	return finding{bytes: held.size()}
}

func missing(kind, name, namespace string) finding {
	return finding{reason: v1alpha.ReasonSourceNotFound, message: fmt.Sprintf(
		"%s %s does not exist in namespace %s of the project; create it", kind, name, namespace)}
}

func unreadable(kind, name, namespace string) finding {
	return finding{reason: v1alpha.ReasonSourceUnauthorized, message: fmt.Sprintf(
		"the add-on may not read %s %s in namespace %s of the project; allow it to get, list and watch %ss",
		kind, name, namespace, strings.ToLower(kind))}
}

func foreign(i item) finding {
	return finding{reason: v1alpha.ReasonSourceRefused, message: fmt.Sprintf(
		"the hub has a %s %s in namespace %s that is not the add-on's and is not overwritten; rename yours, or have that one removed",
		i.Kind, i.Name, i.hubNamespace)}
}
