// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conditions stamps the conditions that the controllers of a cell write.
package conditions

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stamp is what conditions were made from.
type Stamp struct {
	// Generation of the object that was looked at.
	Generation int64
	// Now is the time of the look.
	Now time.Time
}

// Put returns wanted, each with the generation of the stamp, and with the transition time of the condition of the
// same type and status in existing, else the time of the stamp to the second.
func Put(existing []metav1.Condition, stamp Stamp, wanted ...metav1.Condition) []metav1.Condition {
	result := make([]metav1.Condition, 0, len(wanted))
	for _, condition := range wanted {
		var one []metav1.Condition
		if before := meta.FindStatusCondition(existing, condition.Type); before != nil {
			one = append(one, *before)
		}
		condition.ObservedGeneration = stamp.Generation
		// API servers keep seconds; a finer time would differ from what is stored.
		condition.LastTransitionTime = metav1.NewTime(stamp.Now).Rfc3339Copy()
		meta.SetStatusCondition(&one, condition)
		result = append(result, one[0])
	}
	return result
}

// Contain says whether every condition of wanted is in existing as it is. The order does not count.
func Contain(existing, wanted []metav1.Condition) bool {
	return !slices.ContainsFunc(wanted, func(condition metav1.Condition) bool {
		found := meta.FindStatusCondition(existing, condition.Type)
		return found == nil || !equality.Semantic.DeepEqual(*found, condition)
	})
}
