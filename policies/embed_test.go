// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package policies_test

import (
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/policies"
)

// TestFiles: the embedded files have no field that Karmada's API does not know.
func TestFiles(t *testing.T) {
	content, err := policies.Files.ReadFile("interpreter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var configuration configv1alpha1.ResourceInterpreterWebhookConfiguration
	if err := yaml.UnmarshalStrict(content, &configuration); err != nil {
		t.Fatal(err)
	}
	if len(configuration.Webhooks) != 1 || configuration.Webhooks[0].ClientConfig.Service == nil {
		t.Errorf("configuration is %+v", configuration)
	}
}
