// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stamp is the generation and the time that conditions are written with.
type Stamp struct {
	// Generation of the object that the conditions were derived from.
	Generation int64
	// Now becomes the transition time of conditions whose status changes, cut to the second.
	Now time.Time
}

// StampedConditions returns wanted with the generation of the stamp. A condition keeps the transition time that it has in
// existing while its status is the same and that time is not zero. existing is not changed, and conditions of other
// types are not returned.
func StampedConditions(existing []metav1.Condition, stamp Stamp, wanted ...metav1.Condition) []metav1.Condition {
	result := make([]metav1.Condition, 0, len(wanted))
	for _, condition := range wanted {
		var conditions []metav1.Condition
		// The zero time is encoded as null, which the hub's API server refuses.
		if before := meta.FindStatusCondition(existing, condition.Type); before != nil && !before.LastTransitionTime.IsZero() {
			conditions = append(conditions, *before)
		}
		condition.ObservedGeneration = stamp.Generation
		// API servers store seconds; a finer time would differ from the stored one.
		condition.LastTransitionTime = metav1.NewTime(stamp.Now).Rfc3339Copy()
		meta.SetStatusCondition(&conditions, condition)
		result = append(result, conditions[0])
	}
	return result
}

// MergedConditions returns existing with wanted in it, stamped as by StampedConditions: conditions of other types stay, a condition of the
// same type is replaced in its place, and new ones follow in their order. existing is not changed.
func MergedConditions(existing []metav1.Condition, stamp Stamp, wanted ...metav1.Condition) []metav1.Condition {
	result := slices.Clone(existing)
	for _, condition := range StampedConditions(existing, stamp, wanted...) {
		if before := meta.FindStatusCondition(result, condition.Type); before != nil {
			*before = condition
		} else {
			result = append(result, condition)
		}
	}
	return result
}

// IncludeConditions reports whether every condition of wanted is in existing with all its fields. The order does not count.
func IncludeConditions(existing, wanted []metav1.Condition) bool {
	return !slices.ContainsFunc(wanted, func(condition metav1.Condition) bool {
		found := meta.FindStatusCondition(existing, condition.Type)
		return found == nil || !equality.Semantic.DeepEqual(*found, condition)
	})
}
