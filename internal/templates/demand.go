// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

// Demand holds the Instances and bytes that the Workloads of a project ask for.
type Demand struct {
	// Instances is the number of Instances that the Workloads may have.
	Instances int64
	// Bytes is the size of the Workloads with all copies of their templates: see WorkloadBytes.
	Bytes int64
}

// WorkloadBytes is the size of a Workload with so many Instances: its template and its annotations, and a copy of its
// template for each Instance. A deployment has at least one Instance, so that the copies of the template in deployments
// are at most as many again.
func WorkloadBytes(template, annotations int, instances int64) int64 {
	return int64(annotations) + int64(template)*(1+instances)
}

// AnnotationBytes is the size of annotations.
func AnnotationBytes(annotations map[string]string) (size int) {
	for key, value := range annotations {
		size += len(key) + len(value)
	}
	return size
}

// Plus is the sum.
func (d Demand) Plus(more Demand) Demand {
	return Demand{Instances: d.Instances + more.Instances, Bytes: d.Bytes + more.Bytes}
}

// Growth is the part that a change adds. A decrease counts 0.
func (d Demand) Growth(before Demand) Demand {
	return Demand{Instances: max(0, d.Instances-before.Instances), Bytes: max(0, d.Bytes-before.Bytes)}
}

// Reservation is the part that a request adds to a project's Workloads.
type Reservation struct {
	// More is the added part. Most is the maximum for the project, 0 for no limit.
	More, Limit Demand
	// DryRun reports that the request is not stored.
	DryRun bool
}

// IsFull reports whether a total that includes the reservation exceeds the project's maximum in something that the
// reservation adds to.
func (r *Reservation) IsFull(total Demand) bool {
	full := func(total, more, limit int64) bool { return limit > 0 && more > 0 && total > limit }
	return full(total.Instances, r.More.Instances, r.Limit.Instances) || full(total.Bytes, r.More.Bytes, r.Limit.Bytes)
}

// IsNear reports whether a total that includes the reservation exceeds half of the project's maximum.
func (r *Reservation) IsNear(total Demand) bool {
	near := func(total, limit int64) bool { return limit > 0 && total > limit/2 }
	return near(total.Instances, r.Limit.Instances) || near(total.Bytes, r.Limit.Bytes)
}
