// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package helm tests that the chart renders the same with Helm 4 as with Helm 3, whose library the add-on itself uses.
// It is a separate module, so that the product does not depend on two versions of Helm.
package helm

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	loader3 "helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	engine3 "helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	loader4 "helm.sh/helm/v4/pkg/chart/v2/loader"
	engine4 "helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

const (
	folder    = "../../../charts/karmada-compute"
	name      = "karmada-compute"
	namespace = "karmada-system"
)

// parts are the parts of the chart. A release installs one part.
var parts = []string{"host", "hub", "milo"}

// TestHelm4 lints each part of each example with Helm 4, and renders it with Helm 3 and 4.
func TestHelm4(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join(folder, "examples", "*.yaml"))
	if err != nil || len(examples) == 0 {
		t.Fatal(examples, err)
	}
	for _, example := range examples {
		for _, part := range parts {
			if part == "milo" && values(t, example, part)["projects"].(map[string]any)["mode"] != "milo" {
				continue
			}
			t.Run(filepath.Base(example)+"/"+part, func(t *testing.T) {
				linted := lint.RunAll(folder, values(t, example, part), namespace,
					lint.WithKubeVersion(&common.KubeVersion{Version: "v1.35.0", Major: "1", Minor: "35"}))
				for _, message := range linted.Messages {
					if message.Severity >= support.WarningSev {
						t.Error(message)
					}
				}
				if three, four := render3(t, values(t, example, part)), render4(t, values(t, example, part)); !maps.Equal(three, four) {
					t.Errorf("Helm 3 renders\n%v\nHelm 4 renders\n%v", three, four)
				}
			})
		}
	}
}

// values returns an example's values for a part.
func values(t *testing.T, example, part string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	result := map[string]any{}
	if err := yaml.Unmarshal(content, &result); err != nil {
		t.Fatal(err)
	}
	for _, other := range parts {
		if _, ok := result[other].(map[string]any); !ok {
			result[other] = map[string]any{}
		}
		result[other].(map[string]any)["enabled"] = other == part
	}
	return result
}

func render3(t *testing.T, values map[string]any) map[string]string {
	t.Helper()
	loaded, err := loader3.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	complete, err := chartutil.ToRenderValues(loaded, values,
		chartutil.ReleaseOptions{Name: name, Namespace: namespace, IsInstall: true, Revision: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine3.Render(loaded, complete)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

func render4(t *testing.T, values map[string]any) map[string]string {
	t.Helper()
	loaded, err := loader4.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	complete, err := util.ToRenderValues(loaded, values,
		common.ReleaseOptions{Name: name, Namespace: namespace, IsInstall: true, Revision: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine4.Render(loaded, complete)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}
