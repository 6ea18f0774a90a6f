// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo"
)

// TestTrimOriginal: of the metadata that consumers write, a cache has what the controllers read, in a bounded size.
func TestTrimOriginal(t *testing.T) {
	long := strings.Repeat("x", 250_000)
	for resumed, want := range map[string]map[string]string{
		"5d8f": {v1alpha.AnnotationRolloutResumed: "5d8f", v1alpha.AnnotationRolloutData: "5d8f"}, long: {},
	} {
		workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{
			Name: "web", UID: "uid", Generation: 3, Finalizers: []string{"f"}, Labels: map[string]string{"a": "b"},
			OwnerReferences: []metav1.OwnerReference{{Name: "owner"}},
			Annotations:     map[string]string{v1alpha.AnnotationRolloutResumed: resumed, v1alpha.AnnotationRolloutData: resumed, "pad": long},
		}}
		workload.Spec.Template.Labels = map[string]string{"app": "web"}
		if _, err := milo.TrimOriginal(workload); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(workload.Annotations, want) || workload.Labels != nil || workload.OwnerReferences != nil {
			t.Errorf("the metadata is %+v", workload.ObjectMeta)
		}
		if workload.UID != "uid" || workload.Generation != 3 || len(workload.Finalizers) != 1 || workload.Spec.Template.Labels["app"] != "web" {
			t.Errorf("the Workload is %+v", workload)
		}
	}
	missed := toolscache.DeletedFinalStateUnknown{Key: "default/web"}
	if got, err := milo.TrimOriginal(missed); err != nil || got != missed {
		t.Errorf("a deletion that was missed: %v, %v", got, err)
	}
}
