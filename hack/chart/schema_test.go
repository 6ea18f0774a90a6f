// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/charts"
)

var site = []charts.Option{{Key: "site", Comment: "Site."}}

// TestSchemaOf: a value has the type of its default, the longest rule counts, and a group refuses other keys and the
// lack of its own.
func TestSchemaOf(t *testing.T) {
	rules := constraints{Values: map[string]schema{
		"name": {"maxLength": 3}, "site.name": {"maxLength": 5}, "list": {"type": "array"},
	}}
	root, err := rules.schemaOf([]charts.Option{
		{Key: "name", Default: `""`},
		{Key: "site.name", Default: `"a"`, Comment: "Name."},
		{Key: "site.list", Default: `[]`},
		{Key: "site.on", Default: `true`},
		{Key: "site.count", Default: `1`},
	}, site)
	if err != nil {
		t.Fatal(err)
	}
	group := root["properties"].(schema)["site"].(schema)
	values := group["properties"].(schema)
	switch {
	case group["additionalProperties"] != false, strings.Join(group["required"].([]string), " ") != "name list on count":
		t.Errorf("the group is %v", group)
	case group["description"] != "Site.", values["name"].(schema)["description"] != "Name.":
		t.Errorf("the comments are missing in %v", group)
	case values["name"].(schema)["maxLength"] != 5, root["properties"].(schema)["name"].(schema)["maxLength"] != 3:
		t.Errorf("a shorter rule counts in %v", root)
	case values["on"].(schema)["type"] != "boolean", values["count"].(schema)["type"] != "integer":
		t.Errorf("the types of the defaults are missing in %v", values)
	}
}

// TestRulesAndValuesBelongTogether: a value that needs a rule, and a rule without a value, are errors that name it.
func TestRulesAndValuesBelongTogether(t *testing.T) {
	rules := constraints{Values: map[string]schema{"name": {}}}
	for want, option := range map[string]charts.Option{
		"site.list: a list": {Key: "site.list", Default: `[]`}, `ends in ["name"]`: {Key: "site.on", Default: `true`},
	} {
		if _, err := rules.schemaOf([]charts.Option{option}, site); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", option.Key, err)
		}
	}
}
