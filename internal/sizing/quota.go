// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/indexing"
)

// QuotaGrants reports whether the quota of the deployment lets the Instance at an index start in this size: no quota is
// configured, or the index is granted for at least that size.
func QuotaGrants(d *v1alpha.WorkloadDeployment, index int, size v1alpha.QuotaSize) bool {
	quota := d.Spec.Quota
	if quota == nil {
		return true
	}
	return indexing.InRanges(quota.Granted, index) && (quota.InstanceSize == nil || size.Fits(*quota.InstanceSize))
}

// QuotaWithheld is why the quota of the deployment does not let the Instance at an index start, or nil when that is not known.
func QuotaWithheld(d *v1alpha.WorkloadDeployment, index int) *v1alpha.QuotaWithheld {
	if d.Spec.Quota == nil {
		return nil
	}
	for i := range d.Spec.Quota.Withheld {
		if indexing.InRanges(d.Spec.Quota.Withheld[i].Indices, index) {
			return &d.Spec.Quota.Withheld[i]
		}
	}
	return nil
}

// OfDeployment is the size of the Instances of the deployment.
func OfDeployment(d *v1alpha.WorkloadDeployment) v1alpha.QuotaSize {
	size := quotaSize(Instance(&d.Spec.Template.Spec, d.Spec.InstanceTypeResources))
	if p := d.Spec.Partition; p != nil {
		// Some Instances have the earlier template.
		earlier := quotaSize(Instance(&p.Template.Spec, p.InstanceTypeResources))
		size = v1alpha.QuotaSize{VCPUs: max(size.VCPUs, earlier.VCPUs), Memory: max(size.Memory, earlier.Memory)}
	}
	return size
}

// OfInstance is the size of the Instance, with the resources of its instance type as recorded at its creation.
func OfInstance(i *v1alpha.Instance) v1alpha.QuotaSize {
	var typeResources corev1.ResourceList
	if i.Spec.Controller != nil {
		typeResources = i.Spec.Controller.InstanceTypeResources
	}
	return quotaSize(Instance(&i.Spec, typeResources))
}

// quotaSize rounds up to the units of quota. A resource that is not in the size counts as zero.
func quotaSize(size corev1.ResourceList) v1alpha.QuotaSize {
	const mebibyte = 1 << 20
	memory := size.Memory().Value()
	result := v1alpha.QuotaSize{VCPUs: max(0, size.Cpu().MilliValue()), Memory: max(0, memory/mebibyte)}
	if memory > 0 && memory%mebibyte > 0 {
		result.Memory++
	}
	return result
}
