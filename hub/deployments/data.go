// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// isHeld reports whether no deployment is created, and none gets another template: a network is missing, or the data of
// the first template is not read yet.
func (s *scope) isHeld() bool { return len(s.missingNetworks) > 0 || s.noData }

// describeUnread returns a message with the data that the template waits for; "" if it waits for none.
func (s *scope) describeUnread() string {
	if len(s.unread) == 0 {
		return ""
	}
	var names []string
	for _, object := range s.unread[:min(len(s.unread), mostCities)] {
		names = append(names, object.Kind+" "+object.Name)
	}
	if more := len(s.unread) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	message := "the template waits for the content of " + strings.Join(names, ", ")
	current := meta.FindStatusCondition(s.workload.Status.Conditions, v1alpha.ConditionDataCurrent)
	if current == nil || current.Message == "" {
		return message
	}
	return message + ": " + current.Message
}

// ownPart returns the status without the parts that hub/references and hub/names write.
func ownPart(status *v1alpha.WorkloadStatus) v1alpha.WorkloadStatus {
	result := *status.DeepCopy()
	result.Data, result.Hostnames = nil, nil
	for _, others := range []string{v1alpha.ConditionDataCurrent, v1alpha.ConditionNamesProgrammed} {
		meta.RemoveStatusCondition(&result.Conditions, others)
	}
	return result
}
