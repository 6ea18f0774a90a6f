// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// settingsInterval is the interval in which a Workload that keeps its exposure reads the settings of the cells.
const settingsInterval = 30 * time.Second

// Switches reports whether a Workload wants another exposure than its cells have.
func Switches(workload *v1alpha.Workload, deployments []v1alpha.WorkloadDeployment) bool {
	return switches(workload, byName(deployments))
}

// KeepExposure gives a Workload in memory the exposure that its cells have, while no cell of its cities has what the wanted
// one needs: the Service would lose its addresses for nothing. It returns these cities; none: the Workload gets what it wants.
func KeepExposure(
	ctx context.Context, lacking cells.Lacking, workload *v1alpha.Workload, deployments []v1alpha.WorkloadDeployment,
) ([]string, error) {
	return keepExposure(ctx, lacking, workload, byName(deployments))
}

func keepExposure(
	ctx context.Context, lacking cells.Lacking, workload *v1alpha.Workload, deployments map[string]*v1alpha.WorkloadDeployment,
) ([]string, error) {
	former := formerExposure(workload, deployments)
	if former == "" || lacking == nil {
		return nil, nil
	}
	var cities []string
	for _, deployment := range deployments {
		if deployment.DeletionTimestamp.IsZero() {
			cities = append(cities, deployment.Spec.CityCode)
		}
	}
	slices.Sort(cities)
	cities = slices.Compact(cities)
	without, err := lacking(ctx, cities, workload.Spec.Service.Exposure)
	if err != nil || len(without) < len(cities) {
		return nil, err
	}
	workload.Spec.Service.Exposure = former
	return cities, nil
}

// byName has deployments by their names.
func byName(deployments []v1alpha.WorkloadDeployment) map[string]*v1alpha.WorkloadDeployment {
	result := make(map[string]*v1alpha.WorkloadDeployment, len(deployments))
	for i := range deployments {
		result[deployments[i].Name] = &deployments[i]
	}
	return result
}

func switches(workload *v1alpha.Workload, deployments map[string]*v1alpha.WorkloadDeployment) bool {
	return formerExposure(workload, deployments) != ""
}

// formerExposure is the exposure that the cells of a Workload have instead of the wanted one; "": they have that one. As in a
// cell, the newest service of the deployments decides.
func formerExposure(workload *v1alpha.Workload, deployments map[string]*v1alpha.WorkloadDeployment) v1alpha.ServiceExposure {
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

// findExposure finds whether the Workload keeps its exposure.
func (s *scope) findExposure(ctx context.Context) (err error) {
	if s.keepsExposure, err = keepExposure(ctx, s.Lacking, s.workload, s.existing); len(s.keepsExposure) > 0 {
		s.requeueAfter.AtMost(settingsInterval)
	}
	return err
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
