// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of fields without a bound in the sources, mostly fields of Kubernetes' own types. They do not replace
// admission's rules: they keep the length of every list, map and string finite for all writers. Stored valid objects
// are within them.
const (
	mostBytes = 1024
	mostItems = 1024
	// mostQuantity is wire.MaxQuantityLength.
	mostQuantity = 64
)

// bounds of fields, by the end of their path.
var bounds = map[string]int{
	// Linux starts no process with a longer argument or variable.
	"command[]": 128 << 10, "args[]": 128 << 10, "env[].value": 128 << 10,
	"command": 4096, "args": 4096, "env": 4096,
	// Kubernetes bounds all annotations of an object together.
	"annotations{}": 256 << 10,
	"path":          4096, "mountPath": 4096, "selector": 4096,
	// A message of a condition.
	"message": 32768, "dataMissing": 32768,
	// As many Instances as indices.
	"instances": 10000, "states": 10000,
}

func bound(path string, otherwise int) int {
	for end, most := range bounds {
		if strings.HasSuffix(path, "."+end) {
			return most
		}
	}
	return otherwise
}

// findUnbounded collects the missing bounds below a schema, by the line of its first key.
func findUnbounded(schema *yaml.Node, path string, missing map[int][]string) {
	if schema == nil || len(schema.Content) == 0 {
		return
	}
	require := func(key string, most int) {
		if value(schema, key) == nil {
			missing[schema.Content[0].Line] = append(missing[schema.Content[0].Line], fmt.Sprintf("%s: %d", key, bound(path, most)))
		}
	}
	kind := value(schema, "type")
	switch {
	case value(schema, "x-kubernetes-int-or-string") != nil:
		require("maxLength", mostQuantity)
	case kind != nil && kind.Value == "string" && value(schema, "enum") == nil && value(schema, "format") == nil:
		require("maxLength", mostBytes)
	case kind != nil && kind.Value == "array":
		require("maxItems", mostItems)
	case value(schema, "additionalProperties") != nil:
		require("maxProperties", mostItems)
	}
	findUnbounded(value(schema, "items"), path+"[]", missing)
	findUnbounded(value(schema, "additionalProperties"), path+"{}", missing)
	properties := value(schema, "properties")
	for i := 0; properties != nil && i+1 < len(properties.Content); i += 2 {
		findUnbounded(properties.Content[i+1], path+"."+properties.Content[i].Value, missing)
	}
}

// boundVersions collects the missing bounds of every version of a CRD. API servers bound the metadata of an object
// themselves.
func boundVersions(document *yaml.Node, missing map[int][]string) {
	if document.Kind == yaml.DocumentNode {
		document = document.Content[0]
	}
	versions := value(value(document, "spec"), "versions")
	if versions == nil {
		return
	}
	for _, version := range versions.Content {
		properties := value(value(value(version, "schema"), "openAPIV3Schema"), "properties")
		for _, part := range []string{"spec", "status"} {
			findUnbounded(value(properties, part), "."+part, missing)
		}
		if kind := value(value(value(document, "spec"), "names"), "kind"); kind != nil && kind.Value == "Instance" {
			makeAtomic(value(value(value(properties, "spec"), "properties"), "runtime"), missing)
		}
	}
}

// makeAtomic makes API servers record one owner for a field and not one for each of its parts: for a template with many
// small variables the managed fields would be as large as the template, in every Instance. A Workload keeps the parts,
// since several clients may apply one.
func makeAtomic(schema *yaml.Node, missing map[int][]string) {
	const key = "x-kubernetes-map-type"
	if schema != nil && len(schema.Content) > 0 && value(schema, key) == nil {
		missing[schema.Content[0].Line] = append(missing[schema.Content[0].Line], key+": atomic")
	}
}
