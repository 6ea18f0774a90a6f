// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestOldestCellAcceptsRules: an API server of Kubernetes 1.26, the oldest of a cell, reads no bound from an enumeration when it estimates
// what a rule costs. It refuses a CustomResourceDefinition with a rule that compares such texts for each entry of a list.
func TestOldestCellAcceptsRules(t *testing.T) {
	all := crds(t)
	for _, kind := range []string{v1alpha.KindWorkloadDeployment, v1alpha.KindInstance, v1alpha.KindInstanceSlice, v1alpha.KindCell} {
		crd := all[kind]
		for i := range crd.Spec.Versions {
			withoutEnumerations(crd.Spec.Versions[i].Schema.OpenAPIV3Schema)
		}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
		var internal apiextensions.CustomResourceDefinition
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, &internal, nil); err != nil {
			t.Fatal(err)
		}
		for _, fault := range validation.ValidateCustomResourceDefinition(t.Context(), &internal) {
			if fault.Field != "status.storedVersions" {
				t.Errorf("%s: %v", kind, fault)
			}
		}
	}
}

func withoutEnumerations(schema *apiextensionsv1.JSONSchemaProps) {
	if schema == nil {
		return
	}
	schema.Enum = nil
	for name, property := range schema.Properties {
		withoutEnumerations(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		withoutEnumerations(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil {
		withoutEnumerations(schema.AdditionalProperties.Schema)
	}
}
