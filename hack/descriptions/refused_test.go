// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestRefusedFields: fields of the original that do not exist here (docs/decisions/milo.md). API servers
// name each of them in the refusal of a request with strict validation, and store none.
func TestRefusedFields(t *testing.T) {
	for kind, field := range map[string]string{
		v1alpha.KindWorkloadDeployment: "locationRef",
		"InstanceType":                 "default",
	} {
		spec := map[string]any{field: map[string]any{"name": "dfw-1"}}
		// An API server handles requests by the same function.
		unknown := pruning.PruneWithOptions(map[string]any{"spec": spec}, structural(t, kind), true,
			structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		if want := "spec." + field; !slices.Contains(unknown, want) || spec[field] != nil {
			t.Errorf("%s: the unknown fields are [%s], want %s; spec is stored as %v", kind, strings.Join(unknown, ", "), want, spec)
		}
	}
}

// structural returns the schema of a kind in the form that an API server uses.
func structural(t *testing.T, kind string) *structuralschema.Structural {
	t.Helper()
	internal := &apiextensions.JSONSchemaProps{}
	stored := crds(t)[kind].Spec.Versions[0].Schema.OpenAPIV3Schema
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(stored, internal, nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
