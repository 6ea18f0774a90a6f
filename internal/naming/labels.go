// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"maps"
	"strconv"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// InstanceNetworkLabel is the value of LabelNetwork for an Instance of the deployment with this spec: the network of its first interface,
// since a Pod has one. It is "" without an interface.
func InstanceNetworkLabel(d *v1alpha.WorkloadDeployment, spec *v1alpha.InstanceSpec) string {
	if len(spec.NetworkInterfaces) == 0 {
		return ""
	}
	network := &spec.NetworkInterfaces[0].Network
	// A deployment of no project is in the namespace of its networks.
	return NetworkLabel(cmp.Or(network.Namespace, d.Labels[v1alpha.LabelProjectNamespace], d.Namespace), network.Name)
}

// InstanceLabels are the labels of the Instance at an index, in its cell and in its project: the labels of the template, overridden by
// the labels of the add-on.
func InstanceLabels(d *v1alpha.WorkloadDeployment, index int) map[string]string {
	template, _ := d.Spec.TemplateAt(index)
	labels := maps.Clone(template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, map[string]string{
		v1alpha.LabelInstanceIndex: strconv.Itoa(index),
		v1alpha.LabelWorkloadUID:   string(d.Spec.WorkloadRef.UID),
		v1alpha.LabelWorkloadName:  d.Spec.WorkloadRef.Name,
		// A copy on the hub or in a cell has the UID of the project WorkloadDeployment as a label.
		v1alpha.LabelDeploymentUID:  cmp.Or(d.Labels[v1alpha.LabelDeploymentUID], string(d.UID)),
		v1alpha.LabelDeploymentName: d.Name,
		v1alpha.LabelCityCode:       d.Spec.CityCode,
		v1alpha.LabelPlacementName:  d.Spec.PlacementName,
	})
	return labels
}
