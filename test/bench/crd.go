// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// floorGroup is the API group of the floor: the kind Workload without a webhook.
const floorGroup = "bench.karmada-compute.dev"

// floorCRD reads the CRD of one of our kinds from the checkout, in the floor's group.
func floorCRD(plural string) (*unstructured.Unstructured, error) {
	repository, err := tools.FindRepository()
	if err != nil {
		return nil, err
	}
	//nolint:gosec // A file of the checkout.
	source, err := os.ReadFile(filepath.Join(repository, "api", "crds", v1alpha.GroupVersion.Group+"_"+plural+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("read the CRD of %s: %w", plural, err)
	}
	return renameCRD(source, floorGroup)
}

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
