// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/charts"
)

// examples are the values of each example.
func examples(t *testing.T) map[string]map[string]any {
	t.Helper()
	files, err := fs.Glob(charts.FS, "karmada-compute/examples/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	result := map[string]map[string]any{}
	for _, file := range files {
		content, err := charts.FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var parsed map[string]any
		if err := yaml.UnmarshalStrict(content, &parsed); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		result[path.Base(file)] = parsed
	}
	return result
}

// partsOf are the parts of an example: without Milo no part is installed at Milo.
func partsOf(example map[string]any) []string {
	if projects, _ := example["projects"].(map[string]any); projects["mode"] != "milo" {
		return []string{"host", "hub"}
	}
	return []string{"host", "hub", "milo"}
}

// partOf are an example's values for one of the parts.
func partOf(example map[string]any, part string) map[string]any {
	enabled := values(set{"host.enabled": part == "host", "hub.enabled": part == "hub", "milo.enabled": part == "milo"})
	delete(enabled, "projects")
	return chartutil.MergeTables(enabled, example)
}

// renderExample returns the objects of an example in a part.
func renderExample(t *testing.T, example map[string]any, part string) []*unstructured.Unstructured {
	t.Helper()
	return once(t, partOf(example, part), charts.Render)
}

// TestLint: helm lint has no warning about the chart with the values of every example in every part.
func TestLint(t *testing.T) {
	for name, example := range examples(t) {
		for _, part := range partsOf(example) {
			t.Run(name+"/"+part, func(t *testing.T) {
				linted := lint.AllWithKubeVersion("karmada-compute", partOf(example, part), "karmada-system",
					&chartutil.KubeVersion{Version: "v1.35.0", Major: "1", Minor: "35"})
				for _, message := range linted.Messages {
					if message.Severity >= support.WarningSev {
						t.Error(message)
					}
				}
			})
		}
	}
}

// TestExamplesAreWhatTheySay: each example fulfils its purpose.
func TestExamplesAreWhatTheySay(t *testing.T) {
	all := examples(t)
	// The example describes the Secret that its Pods read.
	described, err := charts.FS.ReadFile("karmada-compute/examples/namespaces.yaml")
	if err != nil {
		t.Fatal(err)
	}
	secret := query(t, renderExample(t, all["namespaces.yaml"], "host"), host, "{.spec.template.spec.volumes[0].projected.sources[0].secret}")
	for _, name := range []string{"karmada-compute-config", "karmada.config"} {
		if !strings.Contains(secret, `"`+name+`"`) || !strings.Contains(string(described), name) {
			t.Errorf("the Pods read Secret %s, and the example does not describe %s", secret, name)
		}
	}
	for _, c := range []struct{ example, part, object, query, want string }{
		{"beside-karmada.yaml", "host", host, args, "--webhook-url=https://karmada-compute-webhook.karmada-system.svc:443"},
		{"beside-karmada.yaml", "host", host, args, "--client-ca-file="},
		{"beside-karmada.yaml", "host", "NetworkPolicy/karmada-compute", "{.spec.ingress}", `"ports":[{"port":"peers"}]`},
		{"host-and-hub-apart.yaml", "host", serve, args, "--webhook-cert-dir="},
		{"host-and-hub-apart.yaml", "host", host, volumes, "serviceAccountToken"},
		{"host-and-hub-apart.yaml", "host", service, "{.spec.type}", "LoadBalancer"},
		{"many-cells.yaml", "hub", "ClusterOverridePolicy/karmada-compute-cell-dfw", "{.spec}", "mirror.dfw.example.com"},
		{"many-cells.yaml", "hub", "ClusterOverridePolicy/karmada-compute-cell-fra", "{.spec}", "node-role.kubernetes.io/control-plane"},
		{"many-cells.yaml", "host", host, args, "--interpreter-mode=customization"},
		{"many-cells.yaml", "host", overview, "{.metadata.annotations}", "grafana_folder"},
		{"namespaces.yaml", "host", host, args, "--projects=namespaces"},
		{"namespaces.yaml", "host", host, volumes, `"name":"karmada-compute-config"`},
		{"namespaces.yaml", "host", host, args, "--webhook-url=https://karmada-compute-webhook.karmada-system.svc:443"},
		{"namespaces.yaml", "hub", "ClusterRole/karmada-compute-consumer", "{.kind}", "ClusterRole"},
		{"one-cluster.yaml", "host", host, "{.spec.replicas}", "1"},
		{"one-cluster.yaml", "hub", agent, "{.spec.replicas}", "1"},
		{"outside-any-cluster.yaml", "hub", "ClusterRoleBinding/karmada-compute-hub", "{.subjects[0].kind}", "User"},
		{"staged-adoption.yaml", "host", host, args, "--admission-mode=DryRun"},
		{"staged-adoption.yaml", "host", host, args, "--admission-namespace-selector=canary=yes"},
	} {
		if got := query(t, renderExample(t, all[c.example], c.part), c.object, c.query); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s has %s without %s", c.example, c.object, got, c.want)
		}
	}
}

// unitArgs are the arguments in the example of a systemd unit.
func unitArgs(t *testing.T) []string {
	t.Helper()
	content, err := charts.FS.ReadFile("karmada-compute/examples/karmada-compute.service")
	if err != nil {
		t.Fatal(err)
	}
	_, command, _ := bytes.Cut(content, []byte("ExecStart="))
	command, _, ok := bytes.Cut(bytes.ReplaceAll(command, []byte("\\\n"), nil), []byte("\n"))
	words := strings.Fields(string(command))
	if !ok || words[0] != "/usr/local/bin/karmada-compute" {
		t.Fatalf("command %q", words)
	}
	return words[1:]
}

// TestUnitHasTheFlagsOfTheChart: a unit has the flags of the Pods, with the chart's defaults.
func TestUnitHasTheFlagsOfTheChart(t *testing.T) {
	var fromChart []string
	rendered := render(t, set{"webhooks.url": "https://compute-webhooks.example.com:9443", "webhooks.clientCA.secretName": "a"})
	if err := json.Unmarshal([]byte(query(t, rendered, host, args)), &fromChart); err != nil {
		t.Fatal(err)
	}
	// The paths of files, and the name of the replica, differ.
	own := []string{"--kubeconfig", "--milo-kubeconfig", "--client-ca-file", "--replica-name", "--health-probe-bind-address"}
	flags := func(args []string) map[string]string {
		result := map[string]string{}
		for _, arg := range args {
			name, value, _ := strings.Cut(arg, "=")
			if slices.Contains(own, name) {
				value = ""
			}
			result[name] = value
		}
		return result
	}
	if got, want := flags(unitArgs(t)), flags(fromChart); !maps.Equal(got, want) {
		t.Errorf("the unit has\n%v\nthe chart\n%v", got, want)
	}
}
