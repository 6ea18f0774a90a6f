// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
)

// run returns what the command prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	root := command(streams)
	root.SetArgs(args)
	err := root.Execute()
	return out.String(), err
}

// TestVersion: the plugin prints its version without a kubeconfig, in each way that users of kubectl and of the other
// binaries try.
func TestVersion(t *testing.T) {
	t.Setenv("KUBECONFIG", "/does/not/exist")
	for _, args := range [][]string{{"--version"}, {"version"}} {
		if out, err := run(t, args...); err != nil || !strings.HasPrefix(out, "kubectl-compute "+component.Version().GitVersion+" (commit ") {
			t.Errorf("%v: %q, %v", args, out, err)
		}
	}
	for _, args := range [][]string{{"--version=json"}, {"version", "-o", "json"}} {
		out, err := run(t, args...)
		var built version.Info
		if err != nil || json.Unmarshal([]byte(out), &built) != nil || built != component.Version() {
			t.Errorf("%v: %q, %v", args, out, err)
		}
	}
	if out, err := run(t, "version", "--client"); err != nil || strings.Count(out, "\n") != 1 {
		t.Errorf("without a request: %q, %v", out, err)
	}
	if _, err := run(t, "version", "-o", "yaml"); err == nil || !strings.Contains(err.Error(), "--output") {
		t.Errorf("an unknown format is answered with %v", err)
	}
	if out, err := run(t); err != nil || !strings.Contains(out, "Usage:") {
		t.Errorf("without arguments: %q, %v", out, err)
	}
}
