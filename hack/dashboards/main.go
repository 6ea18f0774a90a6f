// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command dashboards writes the Grafana dashboards of the chart. Their content is in dashboards.yaml. Grafana's JSON
// for a panel is ten times as long, and contains positions and ids that this command computes.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

const folder = "charts/karmada-compute/files/dashboards"

//go:embed dashboards.yaml
var content []byte

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

func run() error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	var dashboards []dashboard
	if err := yaml.UnmarshalStrict(content, &dashboards); err != nil {
		return err
	}
	for _, d := range dashboards {
		var written bytes.Buffer
		encoder := json.NewEncoder(&written)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", " ")
		if err := encoder.Encode(d.grafana()); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, d.Name+".json"), written.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
