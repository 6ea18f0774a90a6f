// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Switches reports whether a Workload wants another exposure than its cells have. As in a cell, the newest service of the
// deployments decides.
func Switches(workload *v1alpha.Workload, deployments []v1alpha.WorkloadDeployment) bool {
	byName := make(map[string]*v1alpha.WorkloadDeployment, len(deployments))
	for i := range deployments {
		byName[deployments[i].Name] = &deployments[i]
	}
	return switches(workload, byName)
}

func switches(workload *v1alpha.Workload, deployments map[string]*v1alpha.WorkloadDeployment) bool {
	newest, former := int64(-1), false
	for _, deployment := range deployments {
		switch generation := deployment.Spec.ServiceGeneration; {
		case !deployment.DeletionTimestamp.IsZero() || generation < newest:
		case generation > newest:
			newest, former = generation, hasFormer(workload, deployment)
		default:
			former = former || hasFormer(workload, deployment)
		}
	}
	return former
}

// hasFormer reports whether a deployment is exposed otherwise than its exposed Workload wants.
func hasFormer(workload *v1alpha.Workload, deployment *v1alpha.WorkloadDeployment) bool {
	before, wanted := deployment.Spec.Service, workload.Spec.Service
	return before.Exposed() && wanted.Exposed() && before.Exposure != wanted.Exposure
}

// ends reports whether the exposure of a deployment ends: its Workload wants none, or another one.
func (s *scope) ends(deployment *v1alpha.WorkloadDeployment) bool {
	return deployment.Spec.Service.Exposed() && (!s.workload.Spec.Service.Exposed() || hasFormer(s.workload, deployment))
}

// isReportEarlier reports whether the cells have not reported on the newest generation of a deployment: its endpoints may
// have addresses of a former exposure.
func isReportEarlier(deployment *v1alpha.WorkloadDeployment) bool {
	observed := deployment.Status.ObservedGeneration
	return observed > 0 && observed < deployment.Generation
}
