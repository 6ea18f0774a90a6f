// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package watch_test

import (
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/karmada-compute/karmada-compute/internal/watch"
)

func TestStripAnnotations(t *testing.T) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name:          "web",
		Labels:        map[string]string{"a": "b"},
		Annotations:   map[string]string{"kept": "1", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}}
	if _, err := watch.StripAnnotations("kept")(object); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(object.Annotations, map[string]string{"kept": "1"}) || object.ManagedFields != nil {
		t.Errorf("got annotations %v and managed fields %v", object.Annotations, object.ManagedFields)
	}
	if object.Name != "web" || object.Labels["a"] != "b" {
		t.Errorf("other metadata was changed: %+v", object.ObjectMeta)
	}
}

func TestStripAnnotationsOfADeletionThatWasMissed(t *testing.T) {
	missed := toolscache.DeletedFinalStateUnknown{Key: "default/web"}
	if got, err := watch.StripAnnotations()(missed); err != nil || got != missed {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestOnlyIdentity(t *testing.T) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "database", Namespace: "default", UID: "uid", ResourceVersion: "7",
		Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "hidden"}, Labels: map[string]string{"a": "b"},
		ManagedFields: []metav1.ManagedFieldsEntry{{}}, Finalizers: []string{"f"}, OwnerReferences: []metav1.OwnerReference{{Name: "owner"}},
	}}
	want := metav1.ObjectMeta{Name: "database", Namespace: "default", UID: "uid", ResourceVersion: "7"}
	if _, err := watch.OnlyIdentity(object); err != nil {
		t.Fatal(err)
	}
	if !equality.Semantic.DeepEqual(object.ObjectMeta, want) {
		t.Errorf("got %+v", object.ObjectMeta)
	}
	missed := toolscache.DeletedFinalStateUnknown{Key: "default/database"}
	if got, err := watch.OnlyIdentity(missed); err != nil || got != missed {
		t.Errorf("a deletion that was missed: %v, %v", got, err)
	}
}
