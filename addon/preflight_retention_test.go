// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRetentionOfOthers: a customization that may keep the data of cells is named, and one that Karmada admits no second
// one beside ends the preflight.
func TestRetentionOfOthers(t *testing.T) {
	customization := func(name, version, kind, script string) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{
			"target":         map[string]any{"apiVersion": version, "kind": kind},
			"customizations": map[string]any{"retention": map[string]any{"luaScript": script}},
		}}}
	}
	health := customization("health", "v1", "Secret", "")
	health.Object["spec"].(map[string]any)["customizations"] = map[string]any{"healthInterpretation": map[string]any{"luaScript": "x"}}
	for name, test := range map[string]struct {
		one            unstructured.Unstructured
		off            bool
		warning, fault string
	}{
		"of Secrets":               {one: customization("keep", "v1", "Secret", "x"), warning: "keep decides which fields of Secrets stay"},
		"of ConfigMaps":            {one: customization("keep", "v1", "ConfigMap", "x"), warning: "fields of ConfigMaps stay"},
		"of namespaces":            {one: customization("keep", "v1", "Namespace", "x"), fault: "hub.keepPodSecurity"},
		"of namespaces, ours off":  {one: customization("keep", "v1", "Namespace", "x"), off: true},
		"ours":                     {one: customization(keptNamespaces, "v1", "Namespace", "x")},
		"of another kind":          {one: customization("keep", "apps/v1", "Deployment", "x")},
		"of Secrets of others":     {one: customization("keep", "example.com/v1", "Secret", "x")},
		"of the health of Secrets": {one: health},
	} {
		t.Run(name, func(t *testing.T) {
			f := &findings{}
			aboutRetention(f, []unstructured.Unstructured{test.one}, !test.off)
			warning, fault := strings.Join(f.warnings, ""), strings.Trim(fmt.Sprint(f.failures), "[]")
			if (warning == "") != (test.warning == "") || !strings.Contains(warning, test.warning) {
				t.Errorf("warning %q", warning)
			}
			if (fault == "") != (test.fault == "") || !strings.Contains(fault, test.fault) {
				t.Errorf("failure %q", fault)
			}
		})
	}
}
