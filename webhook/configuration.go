// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import _ "embed"

// Paths of the webhooks, as in configuration.yaml.
const (
	// ValidatePath is where Workloads are validated.
	ValidatePath = "/validate-workload"
	// OwnedPath is where writes to the add-on's own objects are refused.
	OwnedPath = "/validate-owned"
	// SessionPath is where InstanceSessions are validated and granted.
	SessionPath = "/validate-session"
	// NamespacePath is where labels that turn namespaces of the hub into projects are reviewed.
	NamespacePath = "/validate-namespace"
)

// ConditionNotAddOn is the name of the match condition that exempts the users of the add-on.
const ConditionNotAddOn = "not-by-the-add-on"

// Configuration is the ValidatingWebhookConfiguration for Milo's root, in YAML.
//
//go:embed configuration.yaml
var Configuration []byte
