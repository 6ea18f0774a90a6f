// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFailoverIsAsRecommended: the benchmark runs with the settings that the reference recommends.
func TestFailoverIsAsRecommended(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "failover.md"))
	if err != nil {
		t.Fatal(err)
	}
	recommended := map[string]string{}
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		for name := range strings.SplitSeq(cells[2], "`") {
			if strings.HasPrefix(name, "--cluster-") || name == "controllers.cellFailoverAfter" {
				recommended[name] = strings.TrimSpace(cells[4])
			}
		}
	}
	flags := failoverCommand().Flags()
	karmada, err := flags.GetStringSlice("karmada-flags")
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range karmada {
		name, value, _ := strings.Cut(flag, "=")
		// Karmada's default, where local federations have a shorter time.
		if want := recommended[name]; value != want && flag != "--cluster-success-threshold=30s" {
			t.Errorf("the benchmark sets %s, and the reference recommends %q", flag, want)
		}
	}
	if after, err := flags.GetDuration("cell-failover-after"); err != nil || after.String() != recommended["controllers.cellFailoverAfter"] {
		t.Errorf("the benchmark moves Instances after %s, and the reference recommends %q, %v", after, recommended["controllers.cellFailoverAfter"], err)
	}
	if len(recommended) != 5 {
		t.Errorf("the reference has %v", recommended)
	}
}
