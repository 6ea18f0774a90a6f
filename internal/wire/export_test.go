// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import "github.com/karmada-compute/karmada-compute/api/v1alpha"

// Reported are all Instances of a report, whether they count or not.
func Reported(r *v1alpha.InstanceReport, deployment string) []Instance {
	result := make([]Instance, 0, len(r.Instances))
	for i := range r.Instances {
		result = append(result, instanceOf(r, deployment, i))
	}
	return result
}
