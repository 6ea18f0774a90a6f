// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// TestLimitsPage: the page has the numbers of admission and of the schema.
func TestLimitsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	const sandbox = "spec template spec runtime sandbox "
	rows := map[string]int64{
		"Instances of a placement in one city": maxReplicas,
		"placements of a Workload":             mostItems(t, "spec placements"),
		"cities of a placement":                mostItems(t, "spec placements [] cityCodes"),
		"containers of an Instance":            mostItems(t, sandbox+"containers"),

		"init containers and sidecars of an Instance": mostItems(t, sandbox+"initContainers"),

		"volumes of an Instance":              mostItems(t, "spec template spec volumes"),
		"ports of the Service of a Workload":  mostItems(t, "spec service ports"),
		"names in `spec.service.hostnames`":   mostItems(t, "spec service hostnames"),
		"addresses of a city in a DNS name":   naming.MaxAddresses,
		"network interfaces of an Instance":   maxInterfaces,
		"seconds for the stop of an Instance": maxGrace,
		"seconds of `minReadySeconds`":        maxMinReady,
		"recorded revisions of a Workload":    maxHistory,

		"ConfigMaps and Secrets that roll out with a Workload": templates.MaxRollingData,

		"seconds of `spec.service.drainSeconds`": int64(*schemaAt(t, "spec service drainSeconds").Maximum),

		"bytes of a name": int64(validation.DNS1123LabelMaxLength),
	}
	for name, limit := range rows {
		if !strings.Contains(string(page), fmt.Sprintf("\n| %s | %d |\n", name, limit)) {
			t.Errorf("the page has no row %q with %d", name, limit)
		}
	}
	_, table, _ := strings.Cut(string(page), "| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if got := strings.Count(table, "\n") + 1; got != len(rows) {
		t.Errorf("the table has %d rows, and %d are tested", got, len(rows))
	}
}

// mostItems is the bound of a list in the schema of a Workload.
func mostItems(t *testing.T, path string) int64 {
	t.Helper()
	most := schemaAt(t, path).MaxItems
	if most == nil {
		t.Fatalf("%s has no bound", path)
	}
	return *most
}

// schemaAt is the schema of a field of a Workload.
func schemaAt(t *testing.T, path string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	content, err := os.ReadFile("../../api/crds/compute.datumapis.com_workloads.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(content, &crd); err != nil {
		t.Fatal(err)
	}
	schema := *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	for field := range strings.FieldsSeq(path) {
		if field == "[]" {
			schema = *schema.Items.Schema
			continue
		}
		schema = schema.Properties[field]
	}
	return schema
}
