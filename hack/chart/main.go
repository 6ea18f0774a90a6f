// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// chart writes the generated files of the chart: copies of CRDs, roles and webhook configurations, so that there is one
// source of each; from values.yaml the schema of the values, and their table in its README; and from the matrix of testenv
// the table of the page on security. Run it after the other generators, from the root of the repository.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/karmada-compute/karmada-compute/charts"
)

// folder is the folder of the chart.
const folder = "charts/karmada-compute"

// copies maps the copied files of the chart to their sources.
var copies = map[string]string{
	"files/crds/workloads.yaml":           "api/crds/compute.datumapis.com_workloads.yaml",
	"files/crds/workloaddeployments.yaml": "api/crds/compute.datumapis.com_workloaddeployments.yaml",
	"files/crds/instances.yaml":           "api/crds/compute.datumapis.com_instances.yaml",
	"files/crds/instanceslices.yaml":      "api/crds/compute.datumapis.com_instanceslices.yaml",
	"files/crds/cells.yaml":               "api/crds/compute.datumapis.com_cells.yaml",
	"files/crds/instancetypes.yaml":       "api/crds/compute.datumapis.com_instancetypes.yaml",
	"files/crds/instancesessions.yaml":    "api/crds/compute.datumapis.com_instancesessions.yaml",
	"files/crds/workloadrevisions.yaml":   "api/crds/compute.datumapis.com_workloadrevisions.yaml",
	"files/roles/hub.yaml":                "hub/access/hub/role.yaml",
	"files/roles/namespace.yaml":          "hub/access/namespace/role.yaml",
	"files/roles/webhook-hub.yaml":        "hub/access/webhooks/hub/role.yaml",
	"files/roles/webhook-project.yaml":    "hub/access/webhooks/project/role.yaml",
	"files/roles/sessions-hub.yaml":       "hub/access/sessions/hub/role.yaml",
	"files/roles/sessions-server.yaml":    "hub/access/sessions/server/role.yaml",
	"files/roles/sessions-streams.yaml":   "hub/access/sessions/streams/role.yaml",
	"files/roles/sessions-project.yaml":   "hub/access/sessions/project/role.yaml",
	"files/roles/project.yaml":            "hub/access/project/role.yaml",
	"files/roles/namespaces.yaml":         "hub/access/namespaces/role.yaml",
	"files/roles/consumer.yaml":           "hub/access/consumers/consumer/role.yaml",
	"files/roles/viewer.yaml":             "hub/access/consumers/viewer/role.yaml",
	"files/roles/types.yaml":              "hub/access/consumers/types/role.yaml",
	"files/roles/cell.yaml":               "cell/access/role.yaml",
	"files/roles/cell-streams.yaml":       "cell/access/streams/role.yaml",
	"files/roles/cell-sessions.yaml":      "cell/access/sessions/role.yaml",

	"files/configurations/admission.yaml":     "webhook/configuration.yaml",
	"files/configurations/interpreter.yaml":   "policies/interpreter.yaml",
	"files/configurations/customization.yaml": "interpreter/customization/customization.yaml",
}

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func generate() error {
	for name, source := range copies {
		content, err := os.ReadFile(source) //nolint:gosec // The sources are in the map above.
		if err != nil {
			return fmt.Errorf("%w: run make generate in the root of the repository", err)
		}
		target := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o600); err != nil { //nolint:gosec // The targets are in the map above.
			return err
		}
	}
	if err := writeSchema(filepath.Join(folder, "values.schema.json")); err != nil {
		return err
	}
	if err := writeTable(filepath.Join(folder, "README.md")); err != nil {
		return err
	}
	return writeMatrix("docs/reference/security.md")
}

// The table is between these lines of the README.
const (
	begin = "<!-- begin: values, generated from values.yaml -->\n"
	end   = "<!-- end -->\n"
)

func writeTable(file string) error {
	content, err := os.ReadFile(file) //nolint:gosec // It is the chart's README.
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(content, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return fmt.Errorf("%s: the lines %q and %q must be there: the table is written between them", file, begin, end)
	}
	options, _, err := charts.Options()
	if err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString("| value | default | |\n| --- | --- | --- |\n")
	for _, option := range options {
		fmt.Fprintf(&table, "| `%s` | `%s` | %s |\n", option.Key, option.Default, strings.ReplaceAll(option.Comment, "|", `\|`))
	}
	return os.WriteFile(file, []byte(string(before)+begin+table.String()+end+string(after)), 0o600) //nolint:gosec // The chart's README.
}
