// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// floorGroup is the API group of the floor: the kind Workload without a webhook.
const floorGroup = "bench.karmada-compute.dev"

// renameCRD returns a CustomResourceDefinition with another API group.
func renameCRD(source []byte, group string) (*unstructured.Unstructured, error) {
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(bytes.TrimPrefix(source, []byte("---\n")), &crd.Object); err != nil {
		return nil, fmt.Errorf("read the CRD: %w", err)
	}
	plural, found, err := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	if err != nil || !found || crd.GetKind() != "CustomResourceDefinition" {
		return nil, errors.Join(fmt.Errorf("%s %q is no CustomResourceDefinition with spec.names.plural", crd.GetKind(), crd.GetName()), err)
	}
	crd.SetName(plural + "." + group)
	if err := unstructured.SetNestedField(crd.Object, group, "spec", "group"); err != nil {
		return nil, fmt.Errorf("rename the CRD: %w", err)
	}
	return crd, nil
}
