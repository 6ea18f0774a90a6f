// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"math"

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
	least := free(before.Status.ResourceSummary)
	for name, more := range free(after.Status.ResourceSummary) {
		if more.Cmp(least[name]) > 0 {
			return true
		}
	}
	return false
}

// free returns how much of each resource a Cluster has that no Pod has been given.
func free(summary *clusterv1alpha1.ResourceSummary) map[corev1.ResourceName]resource.Quantity {
	remaining := map[corev1.ResourceName]resource.Quantity{}
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

// Room returns how many more Instances of a size the cells of a city that take Instances can run, as Karmada reports their free
// resources: at most so many, since an Instance needs all of its resources on one node. known is false while a cell reports none.
func (c Cells) Room(city string, size corev1.ResourceList) (room int32, known bool) {
	var sum int64
	all := c.Of(city)
	for i := range all {
		cell := &all[i]
		if !cell.Ready || cell.Cordoned || cell.Tainted || cell.Agent.Down {
			continue
		}
		if cell.summary == nil {
			return 0, false
		}
		sum += int64(max(cell.OnDemand, fits(free(cell.summary), size)))
	}
	return int32(min(sum, math.MaxInt32)), true
}

// fits is how many times a size fits in what is left of a cell. Without a size, it is how many Pods do.
func fits(left map[corev1.ResourceName]resource.Quantity, size corev1.ResourceList) int32 {
	result := float64(math.MaxInt32)
	if pods, reported := left[corev1.ResourcePods]; reported {
		result = min(result, pods.AsApproximateFloat64())
	}
	for name, needed := range size {
		if available := left[name]; needed.Sign() > 0 {
			result = min(result, available.AsApproximateFloat64()/needed.AsApproximateFloat64())
		}
	}
	return int32(max(0, result))
}
