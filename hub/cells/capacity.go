// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// HasMoreCapacity reports whether a Cluster can run more than before: it is Ready again, has come to its city, or has more
// of a resource free. Karmada's scheduler reacts to the labels of a Cluster and to its spec alone.
func HasMoreCapacity(before, after *clusterv1alpha1.Cluster) bool {
	was, now := NewCell(before), NewCell(after)
	if !now.Ready || now.Gone {
		return false
	}
	if !was.Ready || was.City != now.City || was.Cordoned && !now.Cordoned {
		return true
	}
	least := free(before)
	for name, more := range free(after) {
		if more.Cmp(least[name]) > 0 {
			return true
		}
	}
	return false
}

// free returns how much of each resource a Cluster has that no Pod has been given.
func free(c *clusterv1alpha1.Cluster) map[corev1.ResourceName]resource.Quantity {
	summary, remaining := c.Status.ResourceSummary, map[corev1.ResourceName]resource.Quantity{}
	if summary == nil {
		return remaining
	}
	for name, quantity := range summary.Allocatable {
		left := quantity.DeepCopy()
		left.Sub(summary.Allocated[name])
		left.Sub(summary.Allocating[name])
		remaining[name] = left
	}
	return remaining
}
