// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/charts"
)

func TestRender(t *testing.T) {
	objects, err := charts.Render(map[string]any{
		"hub": map[string]any{"enabled": true}, "milo": map[string]any{"enabled": true},
		"host":   map[string]any{"separateWebhooks": true},
		"agents": map[string]any{"overrides": []any{map[string]any{"city": "DFW", "imageRegistry": "mirror.example"}}},
	}, charts.Release{ManagedBy: "karmadactl"})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if managedBy := object.GetLabels()["app.kubernetes.io/managed-by"]; managedBy != "karmadactl" {
			t.Errorf("%s %s is managed by %q", object.GetKind(), object.GetName(), managedBy)
		}
	}
	_, err = charts.Render(map[string]any{"host": map[string]any{"replica": 3}}, charts.Release{})
	if err == nil || !strings.Contains(err.Error(), "replica") {
		t.Errorf("error %v does not name the key", err)
	}
	t.Log(err)
}
