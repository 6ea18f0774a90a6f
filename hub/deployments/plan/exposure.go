// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// FormerExposure is the exposure that the cells of a Workload have instead of the wanted one; "": they have that one. As in a
// cell, the newest service of the deployments decides.
func FormerExposure(workload *v1alpha.Workload, deployments map[string]*v1alpha.WorkloadDeployment) v1alpha.ServiceExposure {
	newest, former := int64(-1), v1alpha.ServiceExposure("")
	for _, name := range slices.Sorted(maps.Keys(deployments)) {
		deployment := deployments[name]
		generation := deployment.Spec.ServiceGeneration
		if !deployment.DeletionTimestamp.IsZero() || generation < newest {
			continue
		}
		if generation > newest {
			newest, former = generation, ""
		}
		if hasFormer(workload, deployment) {
			former = deployment.Spec.Service.Exposure
		}
	}
	return former
}

// hasFormer reports whether a deployment is exposed otherwise than its exposed Workload wants.
func hasFormer(workload *v1alpha.Workload, deployment *v1alpha.WorkloadDeployment) bool {
	before, wanted := deployment.Spec.Service, workload.Spec.Service
	return before.Exposed() && wanted.Exposed() && before.Exposure != wanted.Exposure
}

// withdraw lets traffic leave all deployments of a Workload that is no longer exposed, or is exposed otherwise, before the
// Service of any of them loses its addresses: deployments of a cell have one Service.
func (p *Plan) withdraw() {
	if p.Workload.Spec.Service.Exposed() && FormerExposure(p.Workload, p.deployments) == "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.deployments)) {
		if d := p.deployments[name]; p.ends(d) && p.leave(d).Phase != Free {
			p.withdrawing = true
		}
	}
}

// ends reports whether the exposure of a deployment ends: its Workload wants none, or another one.
func (p *Plan) ends(deployment *v1alpha.WorkloadDeployment) bool {
	return deployment.Spec.Service.Exposed() && (!p.Workload.Spec.Service.Exposed() || hasFormer(p.Workload, deployment))
}

// routes are the names by which Gateways route to the Workload: the ones that no other project can have.
func (p *Plan) routes() []string {
	if !p.Workload.Spec.Service.Routed() {
		return nil
	}
	names := p.Hostnames.Exclusive(naming.HostnameOf{
		Workload: p.Workload.Name, Namespace: p.Workload.Namespace, Project: p.Project,
	}, p.Workload.Spec.Service.Hostnames)
	slices.Sort(names)
	return names
}

// exposureKept is the condition of a Workload that keeps its exposure in these cities, which lack what the wanted one needs.
func exposureKept(kept v1alpha.ServiceExposure, lacking []string) metav1.Condition {
	reason, needed := v1alpha.ReasonGatewayNotConfigured, "a Gateway"
	if kept == v1alpha.ServiceExposureGateway {
		reason, needed = v1alpha.ReasonLoadBalancerNotConfigured, "a load balancer"
	}
	return metav1.Condition{
		Type: v1alpha.ConditionServiceProgrammed, Status: metav1.ConditionFalse, Reason: reason,
		Message: reasons.Shorten(fmt.Sprintf("no cell of %s has %s: the Workload keeps exposure %s until the operator sets annotation %s "+
			"of the namespace of a cell's Works on the hub", strings.Join(lacking, ", "), needed, kept, v1alpha.AnnotationLoadBalancer),
			v1alpha.MaxMessage),
	}
}

// isReportEarlier reports whether the cells have not reported on the newest generation of a deployment: its endpoints may
// have addresses of a former exposure.
func isReportEarlier(deployment *v1alpha.WorkloadDeployment) bool {
	observed := deployment.Status.ObservedGeneration
	return observed > 0 && observed < deployment.Generation
}
