// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestKubectlScale: kubectl scale changes nothing, and its error has the command that scales the Workload.
func TestKubectlScale(t *testing.T) {
	f := newFixture(t)
	if conflicts := f.fromGit(inGit); conflicts != nil {
		t.Fatal(conflicts)
	}
	w := &v1alpha.Workload{}
	w.Namespace, w.Name = f.Namespace.Name, "web"
	before := storedVersion(f, w)
	for _, name := range []string{"workload/web", "wl/web"} {
		answer := f.refusal("scale", name, "--replicas=3")
		for _, want := range []string{"spec.replicas", "kubectl compute scale NAME --replicas=N", "spec.placements[].scaleSettings.minReplicas"} {
			if !strings.Contains(answer, want) {
				t.Errorf("scale %s answers %q, without %q", name, answer, want)
			}
		}
	}
	if after := storedVersion(f, w); after != before {
		t.Errorf("kubectl scale has written the Workload")
	}
	manifest := filepath.Join(t.TempDir(), "workload.yaml")
	if err := os.WriteFile(manifest, []byte(strings.Replace(inGit, "placements:", "replicas: 3\n  placements:", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if answer := f.refusal("apply", "-f", manifest); !strings.Contains(answer, "--replicas=N") {
		t.Errorf("a manifest with replicas answers %q", answer)
	}
	if r := f.kubectl(f.Config(), "scale", "web", "--replicas=3"); r.code != 0 {
		t.Errorf("the command of the answer: %v", r.err)
	}
	if f.get(w); w.Spec.Placements[0].ScaleSettings.MinReplicas != 3 {
		t.Errorf("the command of the answer sets %d", w.Spec.Placements[0].ScaleSettings.MinReplicas)
	}
}

// refusal calls kubectl, which fails, and returns its message.
func (f *fixture) refusal(args ...string) (message string) {
	f.Helper()
	defer func() { message = fmt.Sprint(recover()) }()
	f.Errorf("kubectl %v succeeds: %s", args, f.kubectlItself(args...))
	return ""
}
