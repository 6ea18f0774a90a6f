// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestField(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a.example.com/b": "c"}, "annotations": map[string]any{}},
		"spec": map[string]any{
			"list": []any{map[string]any{"name": "one", "value": int64(1)}, map[string]any{"name": "two", "other": "x"}},
			"none": nil,
		},
	}}
	for path, want := range map[string]string{
		"metadata.labels":                        `{"a.example.com/b":"c"}`,
		"metadata.labels['a.example.com/b']":     "c",
		"metadata.annotations":                   "",
		"metadata.missing.too":                   "",
		"spec.none":                              "",
		"spec.list[*].name":                      "one two",
		"spec.list[*].value":                     "1",
		"spec.list[?(@.name=='two')].other":      "x",
		"spec.list[?(@.name=='nobody')].other":   "",
		"spec.missing[*].name":                   "",
		"spec.list[0].value":                     "1",
		"spec.missing[0].value":                  "",
		"spec.missing[?(@.name=='nobody')].name": "",
	} {
		if got, err := Field(object, path); err != nil || got != want {
			t.Errorf("%s is %q, not %q: %v", path, got, want, err)
		}
	}
	if _, err := Field(object, "spec.["); err == nil {
		t.Error("what is no path was read")
	}
}
