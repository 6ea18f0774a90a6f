// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// IgnoreUpdates drops updates and lets creations and deletions through: for objects whose existence alone counts.
func IgnoreUpdates() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// IgnoreCreations drops creations and lets updates and deletions through: for objects that the controller itself
// creates.
func IgnoreCreations() predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}
}

// OnlyDeletions drops creations and updates and lets deletions through: for objects that are created again when they
// are gone.
func OnlyDeletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
	}
}

// IgnoreStatusUpdates drops updates that change only the status: the UID, generation, labels, annotations and deletion
// timestamp are unchanged.
func IgnoreStatusUpdates() predicate.Predicate {
	return predicate.Or(GenerationChanged(), predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{}, DeletionStarted())
}

// GenerationChanged drops updates that change neither the generation nor the UID: updates of the status and of
// metadata.
func GenerationChanged() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, MadeAgain())
}

// MadeAgain drops all updates except from a deleted object to a recreated object of the same name. A watch that was
// down during the deletion and the creation shows both as one update.
func MadeAgain() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() }}
}

// DeletionStarted drops all updates except the one that sets an object's deletion timestamp, and passes creations and
// deletions. For objects without a generation, such as ConfigMaps, no other event shows the start of a deletion.
func DeletionStarted() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
	}}
}
