// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxNote is the longest note of an Event that the kube-apiserver takes, in bytes.
const maxNote = 1024

// wantEvent wants that one Event with this beginning was recorded since the last call, or none.
func (f *fixture) wantEvent(beginning string) {
	f.t.Helper()
	var recorded []string
	for len(f.recorder.Events) > 0 {
		recorded = append(recorded, <-f.recorder.Events)
	}
	switch {
	case beginning == "" && recorded == nil:
		return
	case beginning == "" || len(recorded) != 1 || !strings.HasPrefix(recorded[0], beginning):
		f.t.Fatalf("Events %q, want %q", recorded, beginning)
	}
	// The recorder writes type, reason and note.
	if parts := strings.SplitN(recorded[0], " ", 3); len(parts[2]) > maxNote {
		f.t.Errorf("the note has %d bytes", len(parts[2]))
	}
}

// forbid lets the kube-apiserver forbid a resource in the namespace.
func (f *fixture) forbid(name corev1.ResourceName) {
	f.t.Helper()
	none := corev1.ResourceList{name: resource.MustParse("0")}
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none},
	}
	f.create(quota)
	// A quota counts once its controller has written its status.
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if err := f.direct.Status().Update(f.t.Context(), quota); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) deleteNamespace() {
	f.t.Helper()
	if err := f.direct.Delete(f.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}); err != nil {
		f.t.Fatal(err)
	}
}
