// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"bytes"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// RenderWithoutSchemas is Render with CRDs that end before their versions: the schemas take two thirds of the time.
func RenderWithoutSchemas(values map[string]any, release Release) ([]*unstructured.Unstructured, error) {
	loaded, err := Load()
	if err != nil {
		return nil, err
	}
	for _, file := range loaded.Files {
		if strings.HasPrefix(file.Name, "files/crds/") {
			file.Data, _, _ = bytes.Cut(file.Data, []byte("\n  versions:"))
		}
	}
	rendered, err := execute(loaded, values, release)
	if err != nil {
		return nil, err
	}
	return decode(rendered)
}
