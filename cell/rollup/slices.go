// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

// slices are the reports in the slices of a deployment, by their numbers.
func (s *summary) slices(deployment *v1alpha.WorkloadDeployment) []v1alpha.InstanceReport {
	var reports []v1alpha.InstanceReport
	for number := range min(int(deployment.Spec.Slices), v1alpha.MaxSlices) {
		within := v1alpha.SliceRange(number)
		reports = append(reports, s.report(deployment.Name, int(within.First), int(within.Last)))
	}
	return reports
}

// countUnlisted counts the Instances whose slices have not arrived.
func (s *summary) countUnlisted(reports []v1alpha.InstanceReport, arrived func(slice int) bool) {
	s.unlisted = 0
	for _, index := range s.indices {
		if number, sliced := v1alpha.SliceOf(index); sliced && (number >= len(reports) || !arrived(number)) {
			s.unlisted++
		}
	}
}

// report has the Instances with indices from first to last.
func (s *summary) report(deployment string, first, last int) v1alpha.InstanceReport {
	from, _ := slices.BinarySearch(s.indices, first)
	to, _ := slices.BinarySearch(s.indices, last+1)
	reported := make([]v1alpha.ReportedInstance, 0, to-from)
	for _, instance := range s.ordered[from:to] {
		reported = append(reported, reportedInstance(instance))
	}
	return v1alpha.NewInstanceReport(deployment, reported)
}

func reportedInstance(instance *v1alpha.Instance) v1alpha.ReportedInstance {
	reported := v1alpha.ReportedInstance{
		Name:              instance.Name,
		TemplateHash:      instance.TemplateHash(),
		SchedulingGates:   instance.SchedulingGates(),
		Conditions:        shortened(instance.Status.Conditions),
		NetworkInterfaces: instance.Status.NetworkInterfaces,
	}
	if instance.Status.Controller != nil {
		reported.ObservedTemplateHash = instance.Status.Controller.ObservedTemplateHash
	}
	return reported
}

// shortened are conditions with messages of a bounded size, so that reports have one.
func shortened(conditions []metav1.Condition) []metav1.Condition {
	result := slices.Clone(conditions)
	for i := range result {
		result[i].Message = v1alpha.ShortenMessage(result[i].Message, v1alpha.MaxMessage)
	}
	return result
}

// listSlices reads the slices of the deployment that have come into the cell. They are shared with the cache.
func (s *scope) listSlices(ctx context.Context) error {
	if s.deployment.Spec.Slices == 0 {
		return nil
	}
	var list v1alpha.InstanceSliceList
	if err := s.client.List(ctx, &list, client.InNamespace(s.deployment.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the InstanceSlices of WorkloadDeployment %s: %w", client.ObjectKeyFromObject(s.deployment), err)
	}
	s.slices = map[int]*v1alpha.InstanceSlice{}
	for i := range list.Items {
		slice := &list.Items[i]
		deployment, number, ok := v1alpha.ParseSliceName(slice.Name)
		if ok && deployment == s.deployment.Name && slice.Spec.IndexRange == v1alpha.SliceRange(number) && slice.DeletionTimestamp.IsZero() {
			s.slices[number] = slice
		}
	}
	return nil
}

// arrived says whether a slice of the deployment is in the cell.
func (s *scope) arrived(number int) bool { return s.slices[number] != nil }

// outdatedSlices are the slices that do not have the wanted status, with it, by their numbers.
func (s *scope) outdatedSlices() []*v1alpha.InstanceSlice {
	var outdated []*v1alpha.InstanceSlice
	for number, report := range s.reports.Slices {
		slice := s.slices[number]
		if slice == nil {
			continue
		}
		wanted := v1alpha.InstanceSliceStatus{ObservedGeneration: slice.Generation, InstanceReport: report}
		if !equality.Semantic.DeepEqual(slice.Status, wanted) {
			outdated = append(outdated, &v1alpha.InstanceSlice{
				ObjectMeta: metav1.ObjectMeta{Namespace: slice.Namespace, Name: slice.Name, ResourceVersion: slice.ResourceVersion},
				Status:     wanted,
			})
		}
	}
	return outdated
}

// writeSlices writes the status of slices.
func (s *scope) writeSlices(ctx context.Context, outdated []*v1alpha.InstanceSlice) error {
	for _, slice := range outdated {
		encoded, err := json.Marshal(&slice.Status)
		if err != nil {
			return fmt.Errorf("encode the status of InstanceSlice %s: %w", client.ObjectKeyFromObject(slice), err)
		}
		s.pace.spent(client.ObjectKeyFromObject(s.deployment), len(encoded))
		if err := apply.Status(ctx, s.client, FieldManager, slice); err != nil {
			return err
		}
	}
	return nil
}

// ofSlice is the deployment of a slice.
func ofSlice(_ context.Context, changed client.Object) []reconcile.Request {
	slice, ok := changed.(*v1alpha.InstanceSlice)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: slice.Namespace, Name: slice.Spec.Deployment}}}
}
