// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

func TestKarmadaVersion(t *testing.T) {
	for image, want := range map[string]string{
		"docker.io/karmada/karmada-controller-manager:v1.19.0":      "tested with 1.16.0 to 1.18",
		"docker.io/karmada/karmada-controller-manager:v2.0.0":       "tested with 1.16.0 to 1.18",
		"docker.io/karmada/karmada-controller-manager:v1.18.9":      "",
		"docker.io/karmada/karmada-controller-manager:v1.18.2":      "",
		"mirror:5000/karmada/karmada-controller-manager:v1.17.1":    "",
		"docker.io/karmada/karmada-controller-manager:v1.16.0":      "",
		"docker.io/karmada/karmada-controller-manager:v1.15.9":      "upgrade it",
		"docker.io/karmada/karmada-controller-manager:latest":       "cannot be read",
		"docker.io/karmada/karmada-controller-manager@sha256:00000": "cannot be read",
	} {
		f := &findings{}
		checkVersion(f, image)
		var out bytes.Buffer
		text := ""
		if err := f.print(&out); err != nil {
			text = err.Error()
		}
		text += out.String()
		if (text == "") != (want == "") || !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", image, text, want)
		}
	}
}

// TestKarmadaRange: make test runs the newest version that preflight knows, and make compatibility the oldest. The pages and the
// chart name the same range.
func TestKarmadaRange(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	required := regexp.MustCompile(`(?m)^\s*github\.com/karmada-io/karmada v(\d+\.\d+)`).FindSubmatch(content)
	if required == nil || string(required[1]) != newestKarmada {
		t.Errorf("the newest version is %s, and go.mod has %q", newestKarmada, required)
	}
	oldest := version.MustParseGeneric(oldestKarmada)
	if _, err := os.Stat(filepath.Join("..", "hack", "tools",
		fmt.Sprintf("karmada-%d.%d", oldest.Major(), oldest.Minor()), "go.mod")); err != nil {
		t.Errorf("make compatibility does not run the oldest version: %v", err)
	}
	minor := fmt.Sprintf("%d.%d", oldest.Major(), oldest.Minor())
	for page, text := range map[string]string{
		"docs/how-to/install.md":            "Karmada " + minor + " to " + newestKarmada,
		"docs/how-to/kind.md":               "Karmada " + minor + " to " + newestKarmada,
		"docs/reference/versions.md":        "refuses a Karmada before " + oldestKarmada + ", and warns about one after " + newestKarmada,
		"README.md":                         "Of version " + minor + " to " + newestKarmada,
		"charts/karmada-compute/Chart.yaml": "Karmada " + minor + " to " + newestKarmada,
	} {
		content, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), text) {
			t.Errorf("%s has no %q", page, text)
		}
	}
}

func TestAPIRate(t *testing.T) {
	for arg, warned := range map[string]bool{"": true, "--kube-api-qps=20": true, "--kube-api-qps=400": false, "--kube-api-qps=-1": false} {
		f := &findings{}
		checkRate(f, []string{"/bin/karmada-controller-manager", arg})
		if (len(f.warnings) > 0) != warned {
			t.Errorf("%q: %v", arg, f.warnings)
		}
	}
	f := &findings{}
	checkRate(f, nil)
	if !strings.Contains(f.warnings[0], "about 5 new deployments a second") {
		t.Errorf("the default rate is explained as %q", f.warnings[0])
	}
}

func TestEveryFailureIsOnALineOfItsOwn(t *testing.T) {
	f := &findings{}
	f.fail("the host does not answer")
	f.fail("the hub does not answer")
	err := f.print(&bytes.Buffer{})
	if want := "nothing was changed, because:\n  - the host does not answer\n  - the hub does not answer"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestRollout(t *testing.T) {
	two := int32(2)
	for name, test := range map[string]struct {
		status appsv1.DeploymentStatus
		want   string
	}{
		"not seen": {
			appsv1.DeploymentStatus{ObservedGeneration: 1, UpdatedReplicas: 2, Replicas: 2, AvailableReplicas: 2}, "waiting for its controller",
		},
		"one updated": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 1, Replicas: 2, AvailableReplicas: 2}, "1 of 2 replicas are updated",
		},
		"one old": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 2, Replicas: 3, AvailableReplicas: 3}, "1 old replicas are still there",
		},
		"one away": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 2, Replicas: 2, AvailableReplicas: 1}, "1 of 2 replicas are available",
		},
		"done": {appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 2, Replicas: 2, AvailableReplicas: 2}, ""},
	} {
		d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &two}, Status: test.status}
		d.Generation = 2
		if got := rollout(d); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestEvictionsByTaint: Karmada's evictions count no budget.
func TestEvictionsByTaint(t *testing.T) {
	const gate, on = "--feature-gates=Foo=true,Failover=true", "--enable-no-execute-taint-eviction"
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"off":                      {},
		"without the gate":         {args: []string{on}},
		"the gate alone":           {args: []string{gate}},
		"off by a value":           {args: []string{gate, on + "=false"}},
		"the gate is off at last":  {args: []string{gate, on, "--feature-gates=Failover=false"}},
		"without its controller":   {args: []string{gate, on, "--enable-taint-manager=false"}},
		"all gates but this one":   {args: []string{"--feature-gates=Failover=false,AllBeta=true", on}},
		"values that do not parse": {args: []string{"--feature-gates=Failover=maybe,,Failover", on}},
		"on":                       {args: []string{gate, on}, want: "after 10m (--graceful-eviction-timeout)"},
		"on by a value":            {args: []string{on + "=true", gate}, want: "docs/reference/failover.md#noexecute-taints"},
		"on by another value":      {args: []string{on, "--feature-gates= Failover = 1"}, want: "take feature gate Failover and the flag"},
		"on with others":           {args: []string{on, gate, "--feature-gates=Bar=true"}, want: "while the add-on decides about its city"},
		"on in two arguments":      {args: []string{on, "--feature-gates", "Failover=true"}, want: "after 10m"},
		"on by its stage":          {args: []string{on, "--feature-gates=AllBeta=true"}, want: "after 10m"},
		"with another timeout":     {args: []string{gate, on, "--graceful-eviction-timeout=2h"}, want: "after 2h (--graceful-eviction-timeout)"},
		"without any delay": {
			args: []string{gate, on, "--no-execute-taint-eviction-purge-mode=Directly"},
			want: "at once (--no-execute-taint-eviction-purge-mode=Directly)",
		},
	} {
		f := &findings{}
		checkEvictions(f, test.args)
		text := strings.Join(f.warnings, "")
		if (text == "") != (test.want == "") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %q, want %q", name, text, test.want)
		}
	}
}
