// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// describeUnread returns a message with the data that the template waits for; "" if it waits for none.
func (s *summary) describeUnread() string {
	if len(s.Unread) == 0 {
		return ""
	}
	var names []string
	for _, object := range s.Unread[:min(len(s.Unread), mostCities)] {
		names = append(names, object.Kind+" "+object.Name)
	}
	if more := len(s.Unread) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	message := "the template waits for the content of " + strings.Join(names, ", ")
	current := meta.FindStatusCondition(s.Workload.Status.Conditions, v1alpha.ConditionDataCurrent)
	if current == nil || current.Message == "" {
		return message
	}
	return message + ": " + current.Message
}

// describeMissingNetworks returns a message with the missing networks and the remedy; "" if none is missing.
func (s *summary) describeMissingNetworks() string {
	if len(s.MissingNetworks) == 0 {
		return ""
	}
	var names []string
	for _, network := range s.MissingNetworks {
		names = append(names, fmt.Sprintf("%s in namespace %s", network.Name, network.Namespace))
	}
	return fmt.Sprintf("the project has no network %s; create it, or name another in spec.template.spec.networkInterfaces",
		strings.Join(names, ", and no network "))
}
