// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	_ "embed"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// hubNamespaces matches the names of hub namespaces, as v1alpha.IsHubNamespace. Karmada writes the copies there, and
// must never wait for admission. No namespace of such a name is a project: a name, other than a label, cannot be
// forged.
const hubNamespaces = `^ns-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`

// labelWebhook is the webhook for the label that turns a namespace into a project, in YAML. A namespace that is created has
// nothing in it yet.
//
//go:embed label.yaml
var labelWebhook []byte

// NamespacesConfiguration returns the ValidatingWebhookConfiguration for the hub, where projects are its namespaces, in
// YAML: that for Milo, without requests in hub namespaces, without the InstanceTypes, which belong to the operator
// there, and with the InstanceSlices, which a project of Milo does not have, and the label that turns a namespace into a
// project.
func NamespacesConfiguration() ([]byte, error) {
	configuration := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(Configuration, &configuration.Object); err != nil {
		return nil, fmt.Errorf("decode the webhook configuration: %w", err)
	}
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return nil, fmt.Errorf("read the webhooks: %w", err)
	}
	for _, item := range webhooks {
		hook, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("a webhook is a %T", item)
		}
		if err := limit(hook); err != nil {
			return nil, err
		}
	}
	label := map[string]any{}
	if err := yaml.Unmarshal(labelWebhook, &label); err != nil {
		return nil, fmt.Errorf("decode the webhook of the label: %w", err)
	}
	webhooks = append(webhooks, label)
	if err := unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks"); err != nil {
		return nil, fmt.Errorf("write the webhooks: %w", err)
	}
	return yaml.Marshal(configuration.Object)
}

// limit limits a webhook to requests in projects.
func limit(hook map[string]any) error {
	rules, _, err := unstructured.NestedSlice(hook, "rules")
	if err != nil {
		return fmt.Errorf("read the rules: %w", err)
	}
	rules = slices.DeleteFunc(rules, func(item any) bool {
		rule, _ := item.(map[string]any)
		return rule["scope"] == "Cluster"
	})
	for _, item := range rules {
		rule, _ := item.(map[string]any)
		operations, _ := rule["operations"].([]any)
		if resources, _ := rule["resources"].([]any); slices.Contains(resources, any("workloaddeployments")) &&
			slices.Contains(operations, any("CREATE")) {
			rule["resources"] = append(resources, "instanceslices", "instanceslices/status")
		}
	}
	hook["rules"] = rules
	conditions, _, err := unstructured.NestedSlice(hook, "matchConditions")
	if err != nil {
		return fmt.Errorf("read the match conditions: %w", err)
	}
	hook["matchConditions"] = append([]any{map[string]any{
		"name": "not-in-a-hub-namespace", "expression": "!request.namespace.matches('" + hubNamespaces + "')",
	}}, conditions...)
	return nil
}
