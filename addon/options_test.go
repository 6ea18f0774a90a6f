// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSplitImage(t *testing.T) {
	for reference, want := range map[string]map[string]any{
		"":                                      nil,
		"karmada-compute:v1":                    {"registry": "", "repository": "karmada-compute", "tag": "v1"},
		"team/karmada-compute:v1":               {"registry": "", "repository": "team/karmada-compute", "tag": "v1"},
		"registry.example/karmada-compute:v1":   {"registry": "registry.example", "repository": "karmada-compute", "tag": "v1"},
		"localhost/karmada-compute:v1":          {"registry": "localhost", "repository": "karmada-compute", "tag": "v1"},
		"registry:5000/team/karmada-compute:v1": {"registry": "registry:5000", "repository": "team/karmada-compute", "tag": "v1"},
	} {
		got, err := splitImage(reference)
		if err != nil {
			t.Errorf("%q: %v", reference, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", reference, diff)
		}
	}
	for _, wrong := range []string{
		"karmada-compute", "registry:5000/karmada-compute", ":v1", "karmada-compute:", "a b:v1", "karmada-compute@sha256:aa",
	} {
		if _, err := splitImage(wrong); err == nil {
			t.Errorf("%q is taken for an image with a tag", wrong)
		}
	}
}

func TestFlagsWinOverFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	content := "host: {replicas: 5, extraArgs: [-v=4]}\nimage: {tag: v1}\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &options{
		miloKubeconfig: "milo.kubeconfig", valuesFiles: []string{file}, replicas: 3, image: "example.com/c:v2",
		karmada: karmadaOptions{imageRegistry: "mirror"},
	}
	got, err := o.values(func(flag string) bool { return flag == "compute-replicas" })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"host":  map[string]any{"replicas": 3, "extraArgs": []any{"-v=4"}},
		"image": map[string]any{"registry": "example.com", "repository": "c", "tag": "v2"},

		"projects": map[string]any{"mode": "milo"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = o.values(func(flag string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if replicas := got["host"].(map[string]any)["replicas"]; replicas != float64(5) {
		t.Errorf("the default of a flag that was not given won over the file: %v", replicas)
	}
}

func TestMistakesAreAllSaid(t *testing.T) {
	o := &options{miloAdminKubeconfig: "admin.kubeconfig", replicas: 0, interpreterMode: "lua", image: "no-tag"}
	err := o.check()
	for _, flag := range []string{"--milo-admin-kubeconfig", "--compute-replicas", "--compute-interpreter-mode", "--compute-image"} {
		if err == nil || !strings.Contains(err.Error(), flag+":") {
			t.Errorf("%v does not name %s", err, flag)
		}
	}
	if err := (&options{workloads: "burn"}).checkDisable(); err == nil || !strings.Contains(err.Error(), "refuse, keep, delete") {
		t.Errorf("%v does not name the choices", err)
	}
}

func TestValuesThatAreNoMap(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte("- a list"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &options{valuesFiles: []string{file}}
	if _, err := o.values(func(string) bool { return false }); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%v does not name the file", err)
	}
	o.valuesFiles = []string{file + ".missing"}
	if _, err := o.values(func(string) bool { return false }); err == nil || !strings.Contains(err.Error(), "--compute-values") {
		t.Errorf("%v does not name the flag", err)
	}
}

// TestModeFollowsTheKubeconfigOfMilo: without one, namespaces of the hub are the projects; values that contradict are
// refused.
func TestModeFollowsTheKubeconfigOfMilo(t *testing.T) {
	withMode := func(mode string) string {
		file := filepath.Join(t.TempDir(), "values.yaml")
		if err := os.WriteFile(file, []byte("projects: {mode: "+mode+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, test := range map[string]struct {
		options     options
		withoutMilo bool
		wrong       string
	}{
		"no kubeconfig":                 {options: options{}, withoutMilo: true},
		"a kubeconfig":                  {options: options{miloKubeconfig: "milo.kubeconfig"}},
		"no kubeconfig, and namespaces": {options: options{valuesFiles: []string{withMode("namespaces")}}, withoutMilo: true},
		"no kubeconfig, and Milo":       {options: options{valuesFiles: []string{withMode("milo")}}, wrong: "--milo-kubeconfig"},
		"no kubeconfig, and a dry run":  {options: options{valuesFiles: []string{withMode("milo")}, dryRun: true}},
		"a kubeconfig, and namespaces": {
			options: options{miloKubeconfig: "f", valuesFiles: []string{withMode("namespaces")}}, wrong: "--milo-kubeconfig",
		},
		"a kubeconfig, and Milo by a value": {options: options{miloKubeconfig: "f", valuesFiles: []string{withMode("milo")}}},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := test.options.values(func(string) bool { return false })
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("error %v does not name %s", err, test.wrong)
				}
				return
			}
			if err != nil || isWithoutMilo(values) != test.withoutMilo {
				t.Errorf("got %v, %v", values, err)
			}
		})
	}
}

// TestModeStays: the mode of projects cannot change while Workloads exist.
func TestModeStays(t *testing.T) {
	role := entry{reference: reference{"rbac.authorization.k8s.io/v1", "ClusterRole", "", "karmada-compute-namespaces"}}
	other := entry{reference: reference{"rbac.authorization.k8s.io/v1", "ClusterRole", "", "karmada-compute-hub"}}
	for name, test := range map[string]struct {
		known       inventory
		mode, wrong string
	}{
		"nothing installed":               {nil, modeNamespaces, ""},
		"with Milo, as before":            {inventory{onHub: {other}, atMilo: {other}}, modeMilo, ""},
		"with Milo, whose Workloads stay": {inventory{onHub: {other}}, modeMilo, ""},
		"with Milo, and now without":      {inventory{onHub: {other}}, modeNamespaces, "--milo-kubeconfig"},
		"without Milo, as before":         {inventory{onHub: {other, role}}, modeNamespaces, ""},
		"without Milo, and now with":      {inventory{onHub: {other, role}}, modeMilo, "without Milo"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &session{known: test.known, values: nested([]string{"projects", "mode"}, test.mode)}
			err := s.checkMode()
			if (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("got %v, want %q", err, test.wrong)
			}
		})
	}
}

// TestWithoutAgents: enable does not wait for agents that the values disable. The hub is not even asked.
func TestWithoutAgents(t *testing.T) {
	var out bytes.Buffer
	s := &session{out: &out, began: time.Now(), rendered: inventory{
		onHost: {{reference: reference{Kind: "Deployment", Name: Name}}},
		onHub:  {{reference: reference{Kind: "ClusterRole", Name: Name}}},
	}}
	if err := s.waitAgents(t.Context()); err != nil || !strings.Contains(out.String(), "no agents are installed") {
		t.Errorf("it says %q, %v", out.String(), err)
	}
}
