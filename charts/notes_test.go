// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"github.com/karmada-compute/karmada-compute/charts"
)

// notes is the text that Helm prints after an installation.
func notes(t *testing.T, sets ...set) string {
	t.Helper()
	loaded, err := charts.Load()
	if err != nil {
		t.Fatal(err)
	}
	complete, err := chartutil.ToRenderValues(loaded, values(sets...),
		chartutil.ReleaseOptions{Name: "karmada-compute", Namespace: "karmada-system"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.Render(loaded, complete)
	if err != nil {
		t.Fatal(err)
	}
	return rendered["karmada-compute/templates/NOTES.txt"]
}

// TestNotes: after an installation, Helm prints the next steps, and only for the installed part.
func TestNotes(t *testing.T) {
	tests := map[string]struct {
		values     set
		want, lack []string
	}{
		"host": {parts["host"], []string{
			"rollout status deployment/karmada-compute", "create secret generic karmada-compute-config --from-file=karmada.config=",
			"create secret generic karmada-compute-milo", "set webhooks.url", "delete validatingwebhookconfiguration karmada-compute",
		}, []string{"label cluster", "at Milo's root"}},
		"host with credentials and a URL": {
			set{
				"access.hub.kubeconfig": "a", "access.milo.token.server": "https://a", "webhooks.url": "https://hooks.example",
				"admission.mode": "DryRun",
			},
			[]string{"call the webhooks at https://hooks.example", "mode DryRun"},
			[]string{"create secret generic", "Service karmada-compute-webhook"},
		},
		"hub": {
			parts["hub"], []string{"label cluster <cluster> topology.datum.net/city-code=<city>", "ServiceAccount karmada-compute"}, []string{
				"rollout status", "Milo",
			},
		},
		"host with webhooks apart": {
			separate, []string{
				"create secret generic karmada-compute-config", "create secret generic karmada-compute-webhook-config --from-file=karmada.config=",
				"kubeconfig for milo, of a user of their own, in Secret karmada-compute-webhook-milo",
			}, nil,
		},
		"hub with webhooks apart": {
			set{"host.enabled": false, "hub.enabled": true, "host.separateWebhooks": true}, []string{"ServiceAccount karmada-compute-webhook"}, nil,
		},
		"hub without agents": {
			set{"host.enabled": false, "hub.enabled": true, "agents.enabled": false}, []string{"at the hub"}, []string{"label cluster"},
		},
		"milo":    {parts["milo"], []string{"at Milo's root", "User karmada-compute"}, []string{"rollout status", "label cluster"}},
		"no part": {set{"host.enabled": false}, []string{"No part is enabled"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := notes(t, test.values)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("without %q:\n%s", want, got)
				}
			}
			for _, lack := range test.lack {
				if strings.Contains(got, lack) {
					t.Errorf("with %q:\n%s", lack, got)
				}
			}
		})
	}
}
