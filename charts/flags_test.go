// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// build builds both commands of the repository into a folder: a test cannot import them.
func build(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", folder, "../cmd/karmada-compute",
		"../cmd/karmada-compute-cell").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return folder
}

// parse lets the binary parse arguments: it prints its help only if it accepts the preceding arguments.
func parse(t *testing.T, binary string, arguments []string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), binary, append(slices.Clone(arguments), "--help")...).CombinedOutput(); err != nil {
		t.Errorf("%s %v: %v\n%s", filepath.Base(binary), arguments, err, out)
	}
}

// commands are the arguments of the containers of Deployments, by image, without duplicates.
func commands(t *testing.T, into map[string]map[string][]string, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		raw := query(t, objects, id(object), args)
		var arguments []string
		if err := json.Unmarshal([]byte(raw), &arguments); err != nil {
			t.Fatal(err)
		}
		name := query(t, objects, id(object), "{.spec.template.spec.containers[0].name}")
		if into[name] == nil {
			into[name] = map[string][]string{}
		}
		into[name][raw] = arguments
	}
}

func TestBinaries(t *testing.T) {
	folder := build(t)
	t.Run("know their flags", func(t *testing.T) { knowTheirFlags(t, folder) })
	t.Run("run with the examples", func(t *testing.T) { runExamples(t, folder) })
	t.Run("run as a unit", func(t *testing.T) { runUnit(t, folder) })
	t.Run("run under systemd", func(t *testing.T) { runUnderSystemd(t, folder) })
	t.Run("have the same defaults", func(t *testing.T) { haveTheSameDefaults(t, filepath.Join(folder, "karmada-compute")) })
}

// knowTheirFlags: the binaries parse the arguments that they get in each example and with each option.
func knowTheirFlags(t *testing.T, folder string) {
	t.Helper()
	all := map[string]map[string][]string{}
	for _, example := range examples(t) {
		for _, part := range partsOf(example) {
			commands(t, all, renderExample(t, example, part))
		}
	}
	for part, enabled := range parts {
		for _, c := range cases[part] {
			if c.query == args {
				commands(t, all, render(t, enabled, c.with, set{c.option: c.value}))
			}
		}
	}
	if len(all["karmada-compute"]) < 20 || len(all["karmada-compute-cell"]) < 5 {
		t.Fatalf("commands: %v", all)
	}
	all["karmada-compute"]["unit"] = unitArgs(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, arguments := range all[name] {
			parse(t, filepath.Join(folder, name), arguments)
		}
	}
}

// haveTheSameDefaults: with the chart's defaults, the host runs like the binary without flags, except for paths and
// addresses.
func haveTheSameDefaults(t *testing.T, binary string) {
	t.Helper()
	// These differ on purpose.
	own := []string{"--kubeconfig", "--milo-kubeconfig", "--replica-name", "--webhooks", "--controllers"}
	out, err := exec.CommandContext(t.Context(), binary, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	var arguments []string
	if err := json.Unmarshal([]byte(query(t, render(t), host, args)), &arguments); err != nil {
		t.Fatal(err)
	}
	descriptions := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, description, _ := strings.Cut(strings.TrimSpace(line), " ")
		descriptions[name] = normal(description)
	}
	for _, argument := range arguments {
		name, value, _ := strings.Cut(argument, "=")
		if slices.Contains(own, name) {
			continue
		}
		description, found := descriptions[name]
		if !found || (value != "0" && value != "false" && !strings.Contains(description, "(default "+value+")")) {
			t.Errorf("%s: the binary says %q", argument, description)
		}
	}
}

// normal has defaults as they are in the chart: without quotes and brackets, and durations in their largest unit.
func normal(description string) string {
	return strings.NewReplacer(`"`, "", "[", "", "]", "", "h0m0s", "h", "m0s", "m").Replace(description)
}
