// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// reported is the part of the status of a Workload that this controller writes.
type reported struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Hostnames  []string           `json:"hostnames,omitempty"`
}

// report writes the names and their condition into the status of the Workload, if they differ.
func (s *scope) report(ctx context.Context) error {
	if s.workload.UID == "" {
		return nil
	}
	var next reported
	for i := range s.found {
		if s.found[i].holds {
			next.Hostnames = append(next.Hostnames, s.found[i].name)
		}
	}
	slices.Sort(next.Hostnames)
	status := &s.workload.Status
	if len(s.found) > 0 {
		stamp := apply.Stamp{Generation: s.workload.Generation, Now: s.Clock.Now()}
		next.Conditions = apply.StampedConditions(status.Conditions, stamp, programmed(s.found))
	}
	obsolete := len(s.found) == 0 && meta.FindStatusCondition(status.Conditions, v1alpha.ConditionNamesProgrammed) != nil
	if !obsolete && slices.Equal(status.Hostnames, next.Hostnames) && apply.IncludeConditions(status.Conditions, next.Conditions) {
		return nil
	}
	err := apply.StatusFields(ctx, s.client, FieldManager, s.workload, next)
	if !s.workload.DeletionTimestamp.IsZero() {
		// It may have ended meanwhile.
		err = client.IgnoreNotFound(err)
	}
	return err
}

// programmed sums up the states of the names.
func programmed(found []state) metav1.Condition {
	sorted := slices.Clone(found)
	slices.SortStableFunc(sorted, func(a, b state) int { return reasons.Compare(a.reason, b.reason) })
	var messages []string
	for i := range sorted {
		if !slices.Contains(messages, sorted[i].message) {
			messages = append(messages, sorted[i].message)
		}
	}
	result := metav1.Condition{
		Type: v1alpha.ConditionNamesProgrammed, Status: metav1.ConditionFalse, Reason: sorted[0].reason,
		Message: reasons.Shorten(strings.Join(messages, "; "), v1alpha.MaxMessage),
	}
	switch result.Reason {
	case v1alpha.ReasonNamesProgrammed:
		result.Status = metav1.ConditionTrue
	case v1alpha.ReasonNamesPending, v1alpha.ReasonNamesNotServed:
		result.Status = metav1.ConditionUnknown
	}
	return result
}
