// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// TestRulesHaveTests: promtool tests each alert when it fires, and when it does not (rules.test.yaml).
func TestRulesHaveTests(t *testing.T) {
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert  string           `json:"alertname"`
				Firing []map[string]any `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "charts/rules.test.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	firing, silent := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		for _, c := range test.Cases {
			if len(c.Firing) > 0 {
				firing[c.Alert] = true
			} else {
				silent[c.Alert] = true
			}
		}
	}
	for _, r := range rules(t) {
		if !firing[r.Alert] || !silent[r.Alert] {
			t.Errorf("rules.test.yaml tests %s firing: %t, and not firing: %t", r.Alert, firing[r.Alert], silent[r.Alert])
		}
		delete(firing, r.Alert)
	}
	for alert := range firing {
		t.Errorf("rules.test.yaml tests %s, which does not exist", alert)
	}
}
