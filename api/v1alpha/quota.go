// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	corev1 "k8s.io/api/core/v1"
)

// QuotaGrants says whether the quota of the deployment lets the Instance at an index start in this size: no quota is
// configured, or the index is granted for at least that size.
func (d *WorkloadDeployment) QuotaGrants(index int, size QuotaSize) bool {
	quota := d.Spec.Quota
	if quota == nil {
		return true
	}
	return inRanges(quota.Granted, index) && (quota.InstanceSize == nil || size.Fits(*quota.InstanceSize))
}

// QuotaWithheld is why the quota of the deployment does not let the Instance at an index start, or nil when that is not known.
func (d *WorkloadDeployment) QuotaWithheld(index int) *QuotaWithheld {
	if d.Spec.Quota == nil {
		return nil
	}
	for i := range d.Spec.Quota.Withheld {
		if inRanges(d.Spec.Quota.Withheld[i].Indices, index) {
			return &d.Spec.Quota.Withheld[i]
		}
	}
	return nil
}

// QuotaSize is the size of the Instances that the deployment makes: during a rollout, the larger one of both templates.
func (d *WorkloadDeployment) QuotaSize() QuotaSize {
	size := quotaSize(InstanceSize(&d.Spec.Template.Spec, d.Spec.InstanceTypeResources))
	if p := d.Spec.Partition; p != nil {
		earlier := quotaSize(InstanceSize(&p.Template.Spec, p.InstanceTypeResources))
		size = QuotaSize{VCPUs: max(size.VCPUs, earlier.VCPUs), Memory: max(size.Memory, earlier.Memory)}
	}
	return size
}

// QuotaSize is the size of the Instance, with what was recorded of its instance type when it was made.
func (i *Instance) QuotaSize() QuotaSize {
	var typeResources corev1.ResourceList
	if i.Spec.Controller != nil {
		typeResources = i.Spec.Controller.InstanceTypeResources
	}
	return quotaSize(InstanceSize(&i.Spec, typeResources))
}

// Fits says whether an Instance of this size may start where quota is granted for one of that size.
func (s QuotaSize) Fits(granted QuotaSize) bool {
	return s.VCPUs <= granted.VCPUs && s.Memory <= granted.Memory
}

// quotaSize rounds up to the units of quota. A resource that is not in the size counts nothing.
func quotaSize(size corev1.ResourceList) QuotaSize {
	const mebibyte = 1 << 20
	memory := size.Memory().Value()
	result := QuotaSize{VCPUs: max(0, size.Cpu().MilliValue()), Memory: max(0, memory/mebibyte)}
	if memory > 0 && memory%mebibyte > 0 {
		result.Memory++
	}
	return result
}

// Indices are the indices in ranges, ascending.
func Indices(ranges []IndexRange) []int { return indicesOf(ranges) }

func inRanges(ranges []IndexRange, index int) bool {
	for _, r := range ranges {
		if index >= int(r.First) && index <= int(r.Last) {
			return true
		}
	}
	return false
}
