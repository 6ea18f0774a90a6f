// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/charts"
)

// A schema is a JSON schema. encoding/json sorts its keys, so that the generated file is stable.
type schema = map[string]any

// constraints are the rules that values.yaml does not show.
type constraints struct {
	Values      map[string]schema `json:"values"`
	Definitions schema            `json:"definitions"`
}

//go:embed constraints.yaml
var constraintsFile []byte

// writeSchema generates the schema of the values. Helm and editors validate values with it, and editors show the
// descriptions.
func writeSchema(file string) error {
	rules := constraints{}
	if err := yaml.UnmarshalStrict(constraintsFile, &rules); err != nil {
		return fmt.Errorf("parse constraints.yaml: %w", err)
	}
	options, groups, err := charts.Options()
	if err != nil {
		return err
	}
	root, err := rules.schemaOf(options, groups)
	if err != nil {
		return err
	}

	content, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(content, '\n'), 0o600)
}

// schemaOf returns the schema of values.yaml. Every group refuses other keys, and requires its own: Helm takes null for
// the removal of a default.
func (c *constraints) schemaOf(options []charts.Option, groups []charts.Option) (schema, error) {
	root := object("")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Values of the chart karmada-compute"
	root["$defs"] = c.Definitions
	root["properties"].(schema)["global"] = schema{
		"type": "object", "description": "Helm passes it to the charts that another chart depends on.",
	}

	places := map[string]schema{"": root}
	for _, group := range groups {
		places[group.Key] = object(group.Comment)
		add(places, group.Key, places[group.Key])
	}
	unused := maps.Clone(c.Values)
	for _, option := range options {
		rule, name, err := c.ruleOf(option)
		if err != nil {
			return nil, err
		}
		delete(unused, name)
		rule["description"] = option.Comment
		add(places, option.Key, rule)
	}
	if len(unused) > 0 {
		return nil, fmt.Errorf("constraints.yaml: no value of values.yaml ends in %q", slices.Sorted(maps.Keys(unused)))
	}
	return root, nil
}

// ruleOf returns the rule of a value, and the name of the constraint that has it.
func (c *constraints) ruleOf(option charts.Option) (rule schema, name string, err error) {
	for end, found := option.Key, true; found; _, end, found = strings.Cut(end, ".") {
		if rule, ok := c.Values[end]; ok {
			return maps.Clone(rule), end, nil
		}
	}
	var value any
	if err := json.Unmarshal([]byte(option.Default), &value); err != nil {
		return nil, "", fmt.Errorf("the default of %s: %w", option.Key, err)
	}
	switch value.(type) {
	case bool:
		return schema{"type": "boolean"}, "", nil
	case string:
		return schema{"type": "string"}, "", nil
	case float64:
		return schema{"type": "integer", "minimum": 0}, "", nil
	default:
		return nil, "", fmt.Errorf("%s: a list and a map need a rule in hack/chart/constraints.yaml", option.Key)
	}
}

// object returns the schema of a group of values.
func object(comment string) schema {
	result := schema{"type": "object", "additionalProperties": false, "properties": schema{}, "required": []string{}}
	if comment != "" {
		result["description"] = comment
	}
	return result
}

// add adds a schema to its group.
func add(places map[string]schema, key string, value schema) {
	group, name := "", key
	if i := strings.LastIndex(key, "."); i >= 0 {
		group, name = key[:i], key[i+1:]
	}
	parent := places[group]
	parent["properties"].(schema)[name] = value
	parent["required"] = append(parent["required"].([]string), name)
}
