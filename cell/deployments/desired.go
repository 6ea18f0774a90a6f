// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/data"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

// newTarget is what deployment asks for; hash is that of its template, and dataReady says whether what the template needs
// is in the cell.
func newTarget(deployment *v1alpha.WorkloadDeployment, hash string, dataReady bool) *target {
	return &target{
		name:     deployment.Name,
		indices:  deployment.InstanceIndices(),
		hash:     hash,
		parallel: deployment.Spec.ScaleSettings.InstanceManagementPolicy == v1alpha.Parallel,
		startable: func(name string) bool {
			return dataReady && (deployment.Spec.Quota == nil || slices.Contains(deployment.Spec.Quota.GrantedInstances, name))
		},
	}
}

// desiredInstance is the Instance of deployment at an index, as it is made. It is never changed after; only its gates
// are lifted.
func desiredInstance(deployment *v1alpha.WorkloadDeployment, index int, hash string) *v1alpha.Instance {
	template := deployment.Spec.Template.DeepCopy()
	instance := &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Name:            v1alpha.InstanceName(deployment.Name, index),
			Namespace:       deployment.Namespace,
			Labels:          instanceLabels(deployment, index),
			Annotations:     template.Annotations,
			OwnerReferences: []metav1.OwnerReference{owned.Reference(deployment)},
		},
		Spec: template.Spec,
	}
	instance.Spec.Location = &v1alpha.LocationReference{Name: v1alpha.CityLabel(deployment.Spec.CityCode)}
	instance.Spec.Controller = &v1alpha.InstanceController{TemplateHash: hash}
	if deployment.Spec.Quota != nil {
		instance.Spec.Controller.SchedulingGates = []v1alpha.SchedulingGate{{Name: v1alpha.GateQuota}}
	}
	if needed, _ := data.Needed(&template.Spec); len(needed) > 0 {
		gates := instance.Spec.Controller.SchedulingGates
		instance.Spec.Controller.SchedulingGates = append(gates, v1alpha.SchedulingGate{Name: v1alpha.GateReferencedData})
	}
	return instance
}

func instanceLabels(deployment *v1alpha.WorkloadDeployment, index int) map[string]string {
	labels := maps.Clone(deployment.Spec.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, map[string]string{
		v1alpha.LabelInstanceIndex: strconv.Itoa(index),
		v1alpha.LabelWorkloadUID:   string(deployment.Spec.WorkloadRef.UID),
		v1alpha.LabelWorkloadName:  deployment.Spec.WorkloadRef.Name,
		// The deployment's UID in its project, where the hub put it on; a deployment without one is from here.
		v1alpha.LabelDeploymentUID:  cmp.Or(deployment.Labels[v1alpha.LabelDeploymentUID], string(deployment.UID)),
		v1alpha.LabelDeploymentName: deployment.Name,
		v1alpha.LabelCityCode:       deployment.Spec.CityCode,
		v1alpha.LabelPlacementName:  deployment.Spec.PlacementName,
	})
	return labels
}
