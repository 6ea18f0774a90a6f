// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/charts"
)

type schema map[string]any

func loadSchema(t *testing.T) schema {
	t.Helper()
	content, err := charts.FS.ReadFile("karmada-compute/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var root schema
	if err := json.Unmarshal(content, &root); err != nil {
		t.Fatal(err)
	}
	return root
}

// at returns the schema of a key, or nil. References are followed.
func (s schema) at(key string) schema {
	found := s
	for name := range strings.SplitSeq(key, ".") {
		properties, ok := found["properties"].(map[string]any)
		if !ok {
			return nil
		}
		next, ok := properties[name].(map[string]any)
		if !ok {
			return nil
		}
		if reference, ok := next["$ref"].(string); ok {
			next, _ = s["$defs"].(map[string]any)[strings.TrimPrefix(reference, "#/$defs/")].(map[string]any)
		}
		found = next
	}
	return found
}

// TestSchemaAndValuesHaveTheSameKeys: every key of values.yaml has an entry in the schema, and every entry a key.
func TestSchemaAndValuesHaveTheSameKeys(t *testing.T) {
	root := loadSchema(t)
	options, groups, err := charts.Options()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"global": true}
	for _, option := range options {
		known[option.Key] = true
		if root.at(option.Key) == nil {
			t.Errorf("%s is not in values.schema.json", option.Key)
		}
	}
	keys := []string{""}
	for _, group := range groups {
		keys = append(keys, group.Key)
	}
	for _, group := range keys {
		prefix, entry := "", root
		if group != "" {
			prefix, entry = group+".", root.at(group)
		}
		if entry["additionalProperties"] != false {
			t.Errorf("%q allows keys that the chart does not know", group)
		}
		properties, _ := entry["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if key := prefix + name; !known[key] && !slices.Contains(keys, key) {
				t.Errorf("%s is not in values.yaml", key)
			}
		}
	}
}

// TestMistakesAreNamed: a wrong key, a wrong type and a wrong value are errors that name the location.
func TestMistakesAreNamed(t *testing.T) {
	options, groups, err := charts.Options()
	if err != nil {
		t.Fatal(err)
	}
	mistakes := map[string]set{}
	for _, group := range groups {
		mistakes["at '/"+strings.ReplaceAll(group.Key, ".", "/")+"': additional properties 'typo' not allowed"] = set{group.Key + ".typo": 1}
	}
	mistakes["additional properties 'typo' not allowed"] = set{"typo": 1}
	for _, option := range options {
		var wrong any = []any{7, nil}
		if strings.HasPrefix(option.Default, "[") || strings.HasPrefix(option.Default, "{") {
			wrong = true
		}
		mistakes["at '/"+strings.ReplaceAll(option.Key, ".", "/")+"'"] = set{option.Key: wrong}
	}
	maps.Copy(mistakes, map[string]set{
		"at '/admission/mode': value must be one of":            {"admission.mode": "fail"},
		"at '/webhooks/url': 'http://a' does not match":         {"webhooks.url": "http://a"},
		"at '/controllers/leaseDuration': '15' does not match":  {"controllers.leaseDuration": "15"},
		"at '/host/tolerations/0': additional properties 'kye'": {"host.tolerations": []any{map[string]any{"kye": "a"}}},
		"at '/host/topologySpreadConstraints/0': missing property 'topology": {
			"host.topologySpreadConstraints": []any{map[string]any{"maxSkew": 1}},
		},
		"at '/agents/overrides/0': missing property 'city'": {
			"agents.overrides": []any{map[string]any{"imageRegistry": "a", "extraArgs": []any{}}},
		},
		"missing property 'projects'":                                 {"projects": nil},
		"at '/hub/subjects': minItems: got 0, want 1":                 {"hub.subjects": []any{}},
		"access.hub.kubeconfig and access.hub.token.server":           {"access.hub.kubeconfig": "a", "access.hub.token.server": "https://a"},
		"profiling: profiles are served beside the metrics; set host": {"profiling": true, "host.metrics.enabled": false},
		"monitoring.rules.enabled: the alerts are on metrics; set":    {"monitoring.rules.enabled": true, "host.metrics.enabled": false},
		"monitoring.podMonitor.enabled: there is nothing to scrape":   {"monitoring.podMonitor.enabled": true, "host.metrics.enabled": false},
		"monitoring.dashboards.enabled: they show metrics; set":       {"monitoring.dashboards.enabled": true, "host.metrics.enabled": false},
		"webhooks.certificates.secretName: name the Secret": {
			"webhooks.certificates.source": "secret", "webhooks.certificates.secretName": "",
		},
		"webhooks.certificates.issuerRef.name: name the issuer": {"webhooks.certificates.source": "cert-manager"},
		"webhooks.addOnUsers: with webhooks.register=false":     {"webhooks.register": false, "host.enabled": false, "milo.enabled": true},
		"admission.namespaceSelector: with webhooks.register=false only": {
			"webhooks.register": false, "webhooks.addOnUsers": []any{"a"}, "admission.namespaceSelector": "a in (b)",
			"host.enabled": false, "milo.enabled": true,
		},
	})
	for want, mistake := range mistakes {
		if _, err := charts.Render(values(mistake), charts.Release{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v does not say %q", mistake, err, want)
		}
	}
}

// TestNullIsAMistake: Helm takes null for the removal of a default, which no template expects.
func TestNullIsAMistake(t *testing.T) {
	options, _, err := charts.Options()
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range options {
		name := option.Key[strings.LastIndex(option.Key, ".")+1:]
		if _, err := charts.Render(values(set{option.Key: nil}), charts.Release{}); err == nil ||
			!strings.Contains(err.Error(), "missing property '"+name+"'") {
			t.Errorf("%s: error %v", option.Key, err)
		}
	}
}

// TestNobodyIsEverybody: no list of subjects and names takes a group of everybody, which would exempt every tenant from what
// the chart protects, nor a name that is nobody's.
func TestNobodyIsEverybody(t *testing.T) {
	lists := []string{
		"hub.subjects", "hub.webhookSubjects", "hub.guard.karmada", "hub.guard.writers", "hub.protection.deleters", "hub.metricsReaders",
		"agents.protection.karmada", "agents.protection.writers", "sessions.subjects", "milo.subjects", "milo.webhookSubjects",
	}
	options, _, err := charts.Options()
	if err != nil {
		t.Fatal(err)
	}
	root := loadSchema(t)
	for _, option := range options {
		items, _ := root.at(option.Key)["items"].(map[string]any)
		if reference, _ := items["$ref"].(string); strings.HasSuffix(reference, "/subject") && !slices.Contains(lists, option.Key) {
			t.Errorf("%s is a list of subjects, and not tested", option.Key)
		}
	}
	render := func(list string, entry any) error {
		_, err := charts.RenderWithoutSchemas(values(set{list: []any{entry}}), charts.Release{})
		return err
	}
	subject := func(kind, name string) map[string]any { return map[string]any{"kind": kind, "name": name} }
	for _, name := range []string{
		"system:authenticated", "system:unauthenticated", "system:serviceaccounts", "system:anonymous", "system:bootstrappers",
		"system:karmada:agents", "", " ", "*", "system:masters ",
	} {
		for _, list := range lists {
			if render(list, subject("Group", name)) == nil || render(list, subject("User", name)) == nil {
				t.Errorf("%s takes %q", list, name)
			}
		}
		for _, list := range []string{"webhooks.alwaysAllowGroups", "webhooks.addOnUsers"} {
			if render(list, name) == nil {
				t.Errorf("%s takes %q", list, name)
			}
		}
	}
	for _, name := range []string{"system:masters", "system:serviceaccounts:karmada-cluster", "operators", "jane@example.com"} {
		if err := render("hub.guard.karmada", subject("Group", name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
