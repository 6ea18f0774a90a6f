// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package watch_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/internal/watch"
)

func TestUpdates(t *testing.T) {
	now := metav1.Now()
	changes := map[string]func(*corev1.Pod){
		"spec":        func(p *corev1.Pod) { p.Generation = 2 },
		"labels":      func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} },
		"annotations": func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} },
		"deletion":    func(p *corev1.Pod) { p.DeletionTimestamp = &now },
		"status":      func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning },
		"all":         func(p *corev1.Pod) { p.UID = "another" },
	}
	tests := map[string]struct {
		predicate predicate.Predicate
		want      map[string]bool
	}{
		"IgnoreUpdates": {watch.IgnoreUpdates(), nil},
		"IgnoreCreations": {
			watch.IgnoreCreations(), map[string]bool{
				"spec": true, "labels": true, "annotations": true, "deletion": true, "status": true, "all": true,
			},
		},
		"OnlyDeletions":     {watch.OnlyDeletions(), nil},
		"GenerationChanged": {watch.GenerationChanged(), map[string]bool{"spec": true, "all": true}},
		"MadeAgain":         {watch.MadeAgain(), map[string]bool{"all": true}},
		"DeletionStarted":   {watch.DeletionStarted(), map[string]bool{"deletion": true}},
		"IgnoreStatusUpdates": {
			watch.IgnoreStatusUpdates(), map[string]bool{"spec": true, "labels": true, "annotations": true, "deletion": true, "all": true},
		},
	}
	for name, test := range tests {
		for changed, change := range changes {
			t.Run(name+" of "+changed, func(t *testing.T) {
				before := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 1}}
				after := before.DeepCopy()
				change(after)
				if got := test.predicate.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want[changed] {
					t.Errorf("got %t", got)
				}
			})
		}
	}
}

func TestCreationsAndDeletions(t *testing.T) {
	tests := map[string]struct {
		predicate predicate.Predicate
		creations bool
	}{
		"IgnoreUpdates":       {watch.IgnoreUpdates(), true},
		"IgnoreCreations":     {watch.IgnoreCreations(), false},
		"OnlyDeletions":       {watch.OnlyDeletions(), false},
		"DeletionStarted":     {watch.DeletionStarted(), true},
		"IgnoreStatusUpdates": {watch.IgnoreStatusUpdates(), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.predicate.Create(event.CreateEvent{Object: &corev1.Pod{}}); got != test.creations {
				t.Errorf("a creation: got %t", got)
			}
			if !test.predicate.Delete(event.DeleteEvent{Object: &corev1.Pod{}}) {
				t.Error("a deletion was dropped")
			}
		})
	}
}
