// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Shapes are variables that fill a template of so many bytes: in one value, in many, and in many empty ones, which take
// most memory.
func Shapes(size int) map[string][]corev1.EnvVar {
	return map[string][]corev1.EnvVar{
		"one value":       {{Name: "A", Value: strings.Repeat("x", size)}},
		"many variables":  variables(size, "x"),
		"empty variables": variables(size, ""),
	}
}

// variables are as many variables as fit into a template.
func variables(size int, value string) (all []corev1.EnvVar) {
	for n := 0; size > 0; n++ {
		variable := corev1.EnvVar{Name: fmt.Sprintf("E%d", n), Value: value}
		all = append(all, variable)
		size -= len(`{"name":""},`) + len(variable.Name)
		if value != "" {
			size -= len(`,"value":""`) + len(value)
		}
	}
	return all
}

// Stranger is the metadata that any party may write: a quarter of a megabyte of annotations, and as much of labels and
// finalizers.
func Stranger(labels ...string) metav1.ObjectMeta {
	of := metav1.ObjectMeta{
		Namespace: "karmada-es-evil", Name: "x", Annotations: map[string]string{"a": strings.Repeat("a", 240<<10)}, Labels: map[string]string{},
	}
	for i := range 2000 {
		of.Labels[fmt.Sprintf("label-%d.example.com/%s", i, strings.Repeat("l", 40))] = strings.Repeat("v", 63)
		of.Finalizers = append(of.Finalizers, fmt.Sprintf("finalizer-%d.example.com/%s", i, strings.Repeat("f", 60)))
	}
	for _, label := range labels {
		of.Labels[label] = "x"
	}
	return of
}

// CheckTrims checks the transform of a cache: of each object, of the largest that other parties can write, a hundred leave
// less than two megabytes in memory.
func CheckTrims(t testing.TB, transform toolscache.TransformFunc, objects ...client.Object) {
	t.Helper()
	for i, object := range objects {
		content, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		kept := make([]any, 0, 100)
		used := Heap(func() {
			for range 100 {
				read := reflect.New(reflect.TypeOf(object).Elem()).Interface()
				if err := json.Unmarshal(content, read); err != nil {
					t.Fatal(err)
				}
				trimmed, err := transform(read)
				if err != nil {
					t.Fatal(err)
				}
				kept = append(kept, trimmed)
			}
		})
		runtime.KeepAlive(kept)
		if used > 2<<20 {
			t.Errorf("%T %d: of 100 objects of %d KiB, %d KiB stay in memory", object, i, len(content)>>10, used>>10)
		}
	}
}

// Heap returns how many bytes are reachable after a function that were not before.
func Heap(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	do()
	runtime.GC()
	runtime.ReadMemStats(&after)
	// Garbage from before may end meanwhile.
	return max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc
}
