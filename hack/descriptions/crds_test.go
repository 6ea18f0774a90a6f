// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// crds are the generated CustomResourceDefinitions, by kind.
func crds(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "api", "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	result := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		result[crd.Spec.Names.Kind] = crd
	}
	return result
}

func TestShortNames(t *testing.T) {
	want := map[string][]string{
		v1alpha.KindWorkload: {"wl", "cwl"}, v1alpha.KindWorkloadDeployment: {"wd"}, v1alpha.KindInstance: {"inst"},
		v1alpha.KindInstanceSlice: {"islice"}, "InstanceType": {"itype"}, v1alpha.KindCell: {"ccell"}, v1alpha.KindInstanceSession: {"isess"},
		v1alpha.KindWorkloadRevision: {"wlrev"},
	}
	got := map[string][]string{}
	for kind, crd := range crds(t) {
		got[kind] = crd.Spec.Names.ShortNames
		// No consumer may list the internal kinds: `kubectl get compute` would fail.
		internal := kind == v1alpha.KindInstanceSlice || kind == v1alpha.KindCell
		if got := slices.Contains(crd.Spec.Names.Categories, "compute"); got == internal {
			t.Errorf("%s is in the categories %v: kubectl get compute lists the kinds that a consumer may list, and no other ones", kind,
				crd.Spec.Names.Categories)
		}
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("short names are %v, want %v", got, want)
	}
}

// TestColumns: the default output of `kubectl get` fits a terminal of 80 columns, at the usual maximum width of the
// values.
func TestColumns(t *testing.T) {
	const name, padding, terminal = 20, 3, 80
	widths := map[string]int{
		".metadata.creationTimestamp": len("4h59m"), ".spec.cityCode": len("DFW"), ".spec.cell": 20,
		`.metadata.labels.compute\.datumapis\.com/city-code`: len("DFW"),
		`.status.conditions[?(@.type=="Available")].reason`:  longestReason(v1alpha.ConditionAvailable),
		// While it is False, it has a shorter reason of Progressing.
		`.status.conditions[?(@.type=="Degraded")].reason`:   longestReason(v1alpha.ConditionDegraded),
		`.status.conditions[?(@.type=="Ready")].reason`:      longestReason(v1alpha.ConditionReady),
		`.status.conditions[?(@.type=="Ready")].status`:      len("Unknown"),
		".status.networkInterfaces[0].assignments.networkIP": len("10.128.0.1"), ".status.readyReplicas": 4, ".status.desiredReplicas": 4,
		".status.total": 5, ".spec.resources.cpu": 4, ".spec.deployment": name, ".spec.first": 4, ".spec.last": 4,
		".spec.resources.memory": 5, ".spec.lifecycle.phase": len(v1alpha.InstanceTypeDeprecated), ".spec.type": len(v1alpha.SessionAttach),
		`.metadata.labels.compute\.datumapis\.com/workload-name`: name, ".spec.revision": 4,
		".status.userName": 10,
	}
	for kind, crd := range crds(t) {
		width, shown := name, 0
		for _, column := range crd.Spec.Versions[0].AdditionalPrinterColumns {
			if column.Priority > 0 {
				continue
			}
			value, known := widths[column.JSONPath]
			if !known {
				t.Errorf("%s: say how wide column %s is", kind, column.Name)
			}
			width += padding + max(len(column.Name), value)
			shown++
		}
		if shown < 3 || width > terminal {
			t.Errorf("%s: %d columns need %d characters; show at least 3 in %d", kind, shown, width, terminal)
		}
	}
}

// longestReason ignores one reason that is hardly ever seen, and one of placements, which have no columns.
func longestReason(condition string) int {
	longest := 0
	for _, remedy := range reasons.All() {
		rare := remedy.Reason == v1alpha.ReasonDefaultInstanceTypeNotFound || remedy.Reason == v1alpha.ReasonAvailableDeploymentFound
		if _, known := reasons.Of(condition, remedy.Reason); known && !rare {
			longest = max(longest, len(remedy.Reason))
		}
	}
	return longest
}

// TestDescriptions: every field has a description for kubectl explain.
func TestDescriptions(t *testing.T) {
	for kind, crd := range crds(t) {
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		if schema.Description == "" {
			t.Errorf("%s has no description", kind)
		}
		// API servers describe metadata of an object themselves.
		delete(schema.Properties, "metadata")
		undescribed(t, kind, schema)
	}
}

func undescribed(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for name, field := range schema.Properties {
		if field.Description == "" {
			t.Errorf("%s.%s has no description", path, name)
		}
		undescribed(t, path+"."+name, &field)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		undescribed(t, path+"[]", schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		undescribed(t, path+"{}", schema.AdditionalProperties.Schema)
	}
}

// TestBounded: every list, map and string of a kind is bounded, and so is the amount that a request can make an API
// server store and every watcher read.
func TestBounded(t *testing.T) {
	for kind, crd := range crds(t) {
		for _, part := range []string{"spec", "status"} {
			if schema, ok := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[part]; ok {
				unbounded(t, kind+"."+part, &schema)
			}
		}
	}
}

func unbounded(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	text := schema.Type == "string" && len(schema.Enum) == 0 && schema.Format == "" || schema.XIntOrString
	if text && schema.MaxLength == nil {
		t.Errorf("%s has no maxLength", path)
	}
	if schema.Type == "array" && schema.MaxItems == nil {
		t.Errorf("%s has no maxItems", path)
	}
	if schema.AdditionalProperties != nil && schema.MaxProperties == nil {
		t.Errorf("%s has no maxProperties", path)
	}
	for name, field := range schema.Properties {
		unbounded(t, path+"."+name, &field)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		unbounded(t, path+"[]", schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		unbounded(t, path+"{}", schema.AdditionalProperties.Schema)
	}
}

// TestNoDefaultsInLists: clients that compare an object with a manifest take a default in a list for a change.
func TestNoDefaultsInLists(t *testing.T) {
	var find func(path string, schema *apiextensionsv1.JSONSchemaProps, inList bool)
	find = func(path string, schema *apiextensionsv1.JSONSchemaProps, inList bool) {
		if inList && schema.Default != nil {
			t.Errorf("%s has a default, in a list", path)
		}
		for name, field := range schema.Properties {
			find(path+"."+name, &field, inList)
		}
		if schema.Items != nil && schema.Items.Schema != nil {
			find(path+"[]", schema.Items.Schema, true)
		}
	}
	for kind, crd := range crds(t) {
		find(kind, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, false)
	}
}

// keysOfLists are the keys of the lists of a Workload that are maps (docs/decisions/git-and-scaling.md).
var keysOfLists = map[string]string{
	".placements": "name", ".placements[].cityCodes": "set", ".placements[].locations": "name", ".service.hostnames": "set",
	".template.spec.controller.schedulingGates": "name", ".template.spec.volumes": "name",
	".template.spec.runtime.sandbox.imagePullSecrets":         "name",
	".template.spec.runtime.sandbox.containers":               "name",
	".template.spec.runtime.sandbox.containers[].env":         "name",
	".template.spec.runtime.sandbox.containers[].ports":       "name",
	".template.spec.runtime.sandbox.initContainers":           "name",
	".template.spec.runtime.sandbox.initContainers[].env":     "name",
	".template.spec.runtime.sandbox.initContainers[].ports":   "name",
	".template.spec.runtime.virtualMachine.ports":             "name",
	".template.spec.runtime.virtualMachine.volumeAttachments": "name",
}

// TestKeysOfLists: a list of a Workload is a map where people's tools merge it, and one value otherwise.
func TestKeysOfLists(t *testing.T) {
	got := map[string]string{}
	var find func(path string, schema *apiextensionsv1.JSONSchemaProps)
	find = func(path string, schema *apiextensionsv1.JSONSchemaProps) {
		switch kind := schema.XListType; {
		case schema.Type != "array":
		case kind == nil:
			// Kubernetes' own metadata, in templates.
			if !strings.HasSuffix(path, ".metadata.finalizers") {
				t.Errorf("list %s has no listType", path)
			}
		case *kind == "set":
			got[path] = "set"
		case *kind == "map":
			got[path] = strings.Join(schema.XListMapKeys, " ")
		}
		for name, field := range schema.Properties {
			find(path+"."+name, &field)
		}
		if schema.Items != nil {
			find(path+"[]", schema.Items.Schema)
		}
	}
	spec := crds(t)[v1alpha.KindWorkload].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	find("", &spec)
	if !maps.Equal(got, keysOfLists) {
		t.Errorf("lists that are maps are %v, want %v", got, keysOfLists)
	}
}
