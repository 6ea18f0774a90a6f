// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// slicesFor returns how many slices a deployment with this assignment needs: for Instances that always run, Instances
// that cells have yet to release, and reported Instances; highest is the highest index that cells may have. Autoscaled Instances
// get slices once they are requested. highest comes from a cell, so a report only keeps existing slices; new slices are
// created only for assigned indices.
func slicesFor(assignment *v1alpha.WorkloadDeploymentAssignment, highest int, before int32) int32 {
	needed, assigned := -1, -1
	if assignment != nil {
		for i := range assignment.Cells {
			cell := &assignment.Cells[i]
			indices := naming.OfRanges(cell.Indices)
			if len(indices) > 0 {
				assigned = max(assigned, indices[len(indices)-1])
			}
			if least := cell.MinReplicas; least != nil {
				indices = indices[:min(len(indices), int(*least))]
			}
			for _, index := range append(indices, naming.OfRanges(cell.Releasing)...) {
				needed = max(needed, index)
			}
		}
	}
	reported := min(naming.SlicesFor(highest), max(naming.SlicesFor(assigned), int(before)))
	return int32(min(max(naming.SlicesFor(needed), reported), naming.MaxSlices)) //nolint:gosec // at most MaxSlices
}

// highest returns the highest index that a cell may have an Instance with: of a silent cell, the last one of the slices.
func highest(existing *v1alpha.WorkloadDeployment, reports *path.Reports) int {
	reported := wire.Highest(existing)
	if last := int(existing.Spec.Slices) - 1; last >= 0 && reports.IsSilent() {
		return max(reported, int(naming.SliceRange(last).Last))
	}
	return reported
}

// ensureSlices creates the slices of the copy, and deletes surplus slices. Karmada propagates them with the copy, which
// depends on them.
func (s *scope) ensureSlices(ctx context.Context) error {
	var list v1alpha.InstanceSliceList
	if err := s.Hub.List(ctx, &list, client.InNamespace(s.hubNamespace), path.OfDeployment(s.copied.Name),
		client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the InstanceSlices of the hub's copy: %w", err)
	}
	existing := map[string]*v1alpha.InstanceSlice{}
	for i := range list.Items {
		if list.Items[i].Spec.Deployment == s.copied.Name {
			existing[list.Items[i].Name] = &list.Items[i]
		}
	}
	for number := range int(s.copied.Spec.Slices) {
		desired := s.desiredSlice(number)
		found := existing[desired.Name]
		delete(existing, desired.Name)
		if found == nil {
			found = &v1alpha.InstanceSlice{}
		}
		if !found.DeletionTimestamp.IsZero() {
			// The deletion event requeues the deployment.
			continue
		}
		if _, err := apply.Exact(ctx, s.Hub, FieldManager, found, desired); err != nil {
			return err
		}
	}
	return s.deleteSlices(ctx, existing)
}

// deleteSlices deletes surplus slices.
func (s *scope) deleteSlices(ctx context.Context, surplus map[string]*v1alpha.InstanceSlice) error {
	for _, name := range slices.Sorted(maps.Keys(surplus)) {
		if !surplus[name].DeletionTimestamp.IsZero() {
			continue
		}
		log.FromContext(ctx).Info("Deleting an InstanceSlice that the deployment does not need any more", "hubNamespace",
			s.hubNamespace, "slice", name)
		uid := surplus[name].UID
		slice := &v1alpha.InstanceSlice{ObjectMeta: metav1.ObjectMeta{Namespace: s.hubNamespace, Name: name}}
		if err := s.Hub.Delete(ctx, slice, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete InstanceSlice %s: %w", name, err)
		}
	}
	return nil
}

// desiredSlice returns a slice of the copy, which owns it.
func (s *scope) desiredSlice(number int) *v1alpha.InstanceSlice {
	labels := s.origin.Labels()
	for _, key := range []string{v1alpha.LabelDeploymentUID, v1alpha.LabelHub} {
		labels[key] = s.copied.Labels[key]
	}
	return &v1alpha.InstanceSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.hubNamespace, Name: naming.SliceName(s.copied.Name, number), Labels: labels, Annotations: s.origin.Annotations(),
			OwnerReferences: []metav1.OwnerReference{s.copied.OwnerReference()},
		},
		Spec: v1alpha.InstanceSliceSpec{Deployment: s.copied.Name, IndexRange: naming.SliceRange(number)},
	}
}

// ofSlice requests the original of the deployment that a slice belongs to.
func ofSlice(ctx context.Context, slice client.Object) []mcreconcile.Request {
	requests := projects.OfCopy(ctx, slice)
	for i := range requests {
		deployment, _, ok := naming.ParseSliceName(requests[i].Name)
		if !ok {
			return nil
		}
		requests[i].NamespacedName = types.NamespacedName{Namespace: requests[i].Namespace, Name: deployment}
	}
	return requests
}
