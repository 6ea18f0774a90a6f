// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command descriptions adds to the CRDs in the folder of its argument what controller-gen leaves out: the descriptions
// of the fields of metadata in a template, which `kubectl explain` shows, the field metadata.name, where a rule of the
// kind names it as its fieldPath, and bounds of lists, maps and strings. A Workload takes quantities that are numbers,
// too, as a Pod does. It removes defaults inside lists: kubectl apply and other clients that compare an object with a
// manifest would report a change of the list forever. The code has these defaults.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// descriptions of the fields that controller-gen knows of metadata.
var descriptions = map[string]string{
	"annotations": "annotations of what is made from the template.",
	"finalizers":  "finalizers have no effect in a template.",
	"labels":      "labels of what is made from the template.",
	"name":        "name has no effect in a template, since what is made from it has a name of its own.",
	"namespace":   "namespace has no effect in a template.",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: descriptions <folder of CRDs>")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "descriptions:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no CRDs in " + folder + ": run make generate in the root of the repository")
	}
	for _, file := range files {
		content, err := os.ReadFile(file) //nolint:gosec // a file of the folder that the caller names
		if err != nil {
			return err
		}
		described, err := describe(content)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(file, described, 0o644); err != nil { //nolint:gosec // as controller-gen writes it
			return err
		}
	}
	return nil
}

// describe inserts the missing parts as lines, so that the rest stays as controller-gen has written it.
func describe(content []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	missing := map[int][]string{}
	find(&document, missing)
	boundVersions(&document, missing)
	drop := map[int]bool{}
	findDefaults(&document, false, drop)
	lines := strings.Split(string(content), "\n")
	takeNumbers(&document, lines)
	for index := len(lines); index > 0; index-- {
		first := lines[index-1]
		indent := first[:len(first)-len(strings.TrimLeft(first, " "))]
		if drop[index] {
			lines = slices.Delete(lines, index-1, index)
		}
		for _, text := range slices.Backward(missing[index]) {
			lines = slices.Insert(lines, index-1, indent+text)
		}
	}
	return []byte(strings.Join(lines, "\n")), nil
}

// find collects lines by the line of the first key of the field that lacks them.
func find(node *yaml.Node, missing map[int][]string) {
	for _, child := range node.Content {
		find(child, missing)
	}
	fields := value(value(node, "metadata"), "properties")
	for name, text := range descriptions {
		if field := value(fields, name); field != nil && value(field, "description") == nil && len(field.Content) > 0 {
			missing[field.Content[0].Line] = []string{"description: " + text}
		}
	}
	metadata := value(value(value(node, "openAPIV3Schema"), "properties"), "metadata")
	if metadata != nil && value(metadata, "properties") == nil && hasRuleOfName(value(node, "openAPIV3Schema")) {
		missing[metadata.Content[0].Line] = []string{"properties:", "  name:", "    type: string"}
	}
}

// hasRuleOfName reports whether a rule of the whole object names metadata.name: an API server ignores the fieldPath of
// a rule when the schema does not have the field.
func hasRuleOfName(schema *yaml.Node) bool {
	rules := value(schema, "x-kubernetes-validations")
	return rules != nil && slices.ContainsFunc(rules.Content, func(rule *yaml.Node) bool {
		path := value(rule, "fieldPath")
		return path != nil && path.Value == ".metadata.name"
	})
}

// findDefaults collects the lines of defaults of fields in lists.
func findDefaults(node *yaml.Node, inList bool, drop map[int]bool) {
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		key, child := node.Content[i], node.Content[i+1]
		if inList && key.Value == "default" && child.Kind == yaml.ScalarNode {
			drop[key.Line] = true
		}
		findDefaults(child, inList || key.Value == "items", drop)
	}
	for i := 0; node.Kind != yaml.MappingNode && i < len(node.Content); i++ {
		findDefaults(node.Content[i], inList, drop)
	}
}

func value(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}
