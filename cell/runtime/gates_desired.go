// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// maxNamed is how many missing objects a message names. The message is part of every report of the deployment.
const maxNamed = 5

// quotaGranted is the condition QuotaGranted of an Instance of a deployment.
func quotaGranted(deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) metav1.Condition {
	index, _ := naming.InstanceIndex(deployment.Name, instance.Name)
	withheld := templates.QuotaWithheld(deployment, index)
	condition := metav1.Condition{Type: v1alpha.ConditionQuotaGranted, Status: metav1.ConditionTrue}
	switch {
	case deployment.Spec.Quota == nil:
		condition.Reason = v1alpha.ReasonQuotaDisabled
		condition.Message = "no quota is configured"
	case templates.QuotaGrants(deployment, index, templates.SizeOfInstance(instance)):
		condition.Reason = v1alpha.ReasonQuotaAvailable
		condition.Message = "the quota of the project is granted"
	case withheld != nil:
		condition.Status = metav1.ConditionFalse
		condition.Reason, condition.Message = withheld.Reason, withheld.Message
	default:
		condition.Status = metav1.ConditionFalse
		condition.Reason = v1alpha.ReasonPendingEvaluation
		condition.Message = fmt.Sprintf("waiting for the quota of the project to be granted to Instance %s", instance.Name)
	}
	return condition
}

// dataReady is the condition ReferencedDataReady of an Instance that misses these objects.
func dataReady(missing []templates.DataObject) metav1.Condition {
	if len(missing) == 0 {
		return metav1.Condition{
			Type: v1alpha.ConditionReferencedDataReady, Status: metav1.ConditionTrue,
			Reason: v1alpha.ReasonReferencedDataPresent, Message: "what the template names is in the cell",
		}
	}
	var names []string
	for _, object := range missing[:min(len(missing), maxNamed)] {
		names = append(names, object.Kind+" "+object.Name)
	}
	if more := len(missing) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return metav1.Condition{
		Type: v1alpha.ConditionReferencedDataReady, Status: metav1.ConditionFalse,
		Reason: v1alpha.ReasonAwaitingPropagation, Message: "not in the cell: " + strings.Join(names, ", "),
	}
}
