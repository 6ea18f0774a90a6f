// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command dashboards writes the Grafana dashboards of the chart. Their content is in dashboards.go. Grafana's JSON for a panel is
// ten times as long, and contains positions and ids that this command computes.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const folder = "charts/karmada-compute/files/dashboards"

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
	for _, d := range dashboards {
		var content bytes.Buffer
		encoder := json.NewEncoder(&content)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", " ")
		if err := encoder.Encode(d.grafana()); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, d.name+".json"), content.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
