// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

var changedAt = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestWhatWaitsForARestart: a container that was started after the change of its data has the new content; one that
// has not started will have it; all others keep the earlier content.
func TestWhatWaitsForARestart(t *testing.T) {
	at := func(after time.Duration) metav1.Time { return metav1.NewTime(changedAt.Add(after)) }
	running := func(name string, after time.Duration) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(after)}}}
	}
	ended := func(name string, after time.Duration) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{StartedAt: at(after)},
		}}
	}
	for name, test := range map[string]struct {
		keptBy     []string
		init, app  []corev1.ContainerStatus
		record     string
		want       int
		wantNewest bool
	}{
		"started before":           {keptBy: []string{"a"}, app: []corev1.ContainerStatus{running("a", -time.Hour)}, want: 1},
		"started in that second":   {keptBy: []string{"a"}, app: []corev1.ContainerStatus{running("a", 0)}, want: 1},
		"started after":            {keptBy: []string{"a"}, app: []corev1.ContainerStatus{running("a", time.Second)}, wantNewest: true},
		"not started":              {keptBy: []string{"a"}, app: []corev1.ContainerStatus{{Name: "a"}}, wantNewest: true},
		"one of two started after": {keptBy: []string{"a", "b"}, app: []corev1.ContainerStatus{running("a", 1), running("b", -1)}, want: 1},
		"an init container":        {keptBy: []string{"i"}, init: []corev1.ContainerStatus{ended("i", -time.Hour)}, want: 1},
		"another container":        {keptBy: []string{"a"}, app: []corev1.ContainerStatus{running("b", -time.Hour)}, wantNewest: true},
		"a volume":                 {app: []corev1.ContainerStatus{running("a", -time.Hour)}, record: "started"},
		"another number of objects": {
			keptBy: []string{"a"}, app: []corev1.ContainerStatus{running("a", -time.Hour)}, record: "started 0123 4567",
		},
		"the same content": {keptBy: []string{"a"}, app: []corev1.ContainerStatus{running("a", -time.Hour)}, record: "started fedcba98"},
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: test.init, ContainerStatuses: test.app}}
		if test.record == "" {
			test.record = "started 01234567"
		}
		pod.Annotations = map[string]string{v1alpha.AnnotationStartedWith: test.record}
		present := contents{{
			DataVersion: v1alpha.DataVersion{Kind: "ConfigMap", Name: "app", Hash: "fedcba9876543210"}, written: changedAt, keptBy: test.keptBy,
		}}
		got := present.compared(pod)
		want := "started"
		if test.wantNewest {
			want = present.hash()
		}
		if len(got.pending) != test.want || len(got.conditions()) != test.want || got.hash != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestTrimData: the cache has when an object was written, also when the transform sees it twice, and no content.
func TestTrimData(t *testing.T) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "hidden"},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Time: &metav1.Time{Time: changedAt}}, {}, {Time: &metav1.Time{Time: changedAt.Add(-time.Hour)}},
		},
	}}
	for range 2 {
		if _, err := TrimData(object); err != nil {
			t.Fatal(err)
		}
		if got := object.Annotations; len(got) != 1 || got[annotationWritten] != "2026-01-01T00:00:00Z" || len(object.ManagedFields) > 0 {
			t.Errorf("it keeps %v", got)
		}
	}
}
