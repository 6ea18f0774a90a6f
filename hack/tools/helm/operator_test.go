// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"path/filepath"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"sigs.k8s.io/yaml"
)

// TestPrometheusOperator: the chart's objects for the Prometheus operator have only fields that the operator knows.
func TestPrometheusOperator(t *testing.T) {
	rendered := render4(t, map[string]any{
		"monitoring": map[string]any{
			"podMonitor": map[string]any{
				"enabled": true, "interval": "30s",
				// The values of docs/how-to/monitoring.md.
				"tlsConfig": map[string]any{
					"insecureSkipVerify": true,
					"cert":               map[string]any{"secret": map[string]any{"name": "prometheus-client", "key": "tls.crt"}},
					"keySecret":          map[string]any{"name": "prometheus-client", "key": "tls.key"},
				},
				"authorization": map[string]any{"credentials": map[string]any{"name": "prometheus-client", "key": "token"}},
			},
			"rules": map[string]any{"enabled": true},
		},
	})
	var monitor monitoringv1.PodMonitor
	decode(t, rendered, "podmonitor.yaml", &monitor)
	if endpoints := monitor.Spec.PodMetricsEndpoints; len(endpoints) != 1 || endpoints[0].Port == nil || *endpoints[0].Port != "metrics" {
		t.Errorf("the PodMonitor has endpoints %+v", endpoints)
	}
	var rules monitoringv1.PrometheusRule
	decode(t, rendered, "rules.yaml", &rules)
	if len(rules.Spec.Groups) < 4 {
		t.Errorf("the PrometheusRule has groups %+v", rules.Spec.Groups)
	}
}

// decode reads the object that a template of the host renders.
func decode(t *testing.T, rendered map[string]string, template string, object any) {
	t.Helper()
	for name, content := range rendered {
		if strings.HasSuffix(name, "host/"+template) {
			if err := yaml.UnmarshalStrict([]byte(content), object); err != nil {
				t.Fatalf("%s: %v", filepath.Base(name), err)
			}
			return
		}
	}
	t.Fatalf("nothing is rendered from %s", template)
}
