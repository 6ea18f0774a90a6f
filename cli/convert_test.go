// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"
)

// convertDeployment is the input of the tests of the command.
const convertDeployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, " +
	"spec: {template: {spec: {hostNetwork: true, containers: [{name: web, image: 'registry.example.com/web:1'}]}}}}"

// runConvert runs the command on a text at stdin.
func runConvert(in string, args ...string) (out, errOut string, err error) {
	var stdout, stderr bytes.Buffer
	command := New(Options{
		Use: "kubectl-compute", Flags: genericclioptions.NewConfigFlags(true), Clock: clocktesting.NewFakePassiveClock(now),
		Streams: genericiooptions.IOStreams{In: strings.NewReader(in), Out: &stdout, ErrOut: &stderr},
	})
	command.SetArgs(append([]string{"convert"}, args...))
	err = command.Execute()
	return stdout.String(), stderr.String(), err
}

// TestConvertCommand: stdout has only the Workload, so that it can be applied; stderr lists the losses.
func TestConvertCommand(t *testing.T) {
	out, errOut, err := runConvert(convertDeployment, "-f", "-", "--city", "DFW,ORD", "--network", "edge",
		"--instance-type", "datumcloud-d1-standard-2")
	for _, want := range []string{"kind: Workload\n", "    - DFW\n    - ORD\n", "name: edge\n", "instanceType: datumcloud-d1-standard-2\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "status") || !strings.Contains(errOut, "Deployment web: spec.template.spec.hostNetwork: ") || err != nil {
		t.Errorf("%v: %s%s", err, out, errOut)
	}
	for want, args := range map[string][]string{
		"name the file": {"--city", "DFW"}, "--city": {"-f", "-"}, "no such file": {"-f", "/does/not/exist", "--city", "DFW"},
		"is a URL": {"-f", "https://example.com/a.yaml", "--city", "DFW"}, "no Deployment": {"-", "--city", "DFW"},
		"supported are yaml and json": {"-", "--city", "DFW", "-o", "wide"},
		"--kustomize /does/not/exist": {"-k", "/does/not/exist", "--city", "DFW"},
	} {
		if out, _, err := runConvert("", args...); err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

// TestConvertFolders: files are named without a flag, a kustomization is rendered, and one List in JSON has all objects, in one namespace.
func TestConvertFolders(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"web.yaml":           convertDeployment,
		"kustomization.yaml": "namePrefix: prod-\nresources: [web.yaml]\nconfigMapGenerator: [{name: conf, literals: [A=b]}]\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errOut, err := runConvert("", filepath.Join(folder, "web.yaml"), "-k", folder, "--city", "DFW", "-o", "json",
		"--project-namespace", "team")
	var list struct {
		Kind  string
		Items []struct {
			Metadata struct{ Name, Namespace string }
		}
	}
	if jsonErr := json.Unmarshal([]byte(out), &list); err != nil || jsonErr != nil || list.Kind != "List" || len(list.Items) != 2 {
		t.Fatalf("%v, %v: %s%s", err, jsonErr, out, errOut)
	}
	if first, last := list.Items[0].Metadata, list.Items[1].Metadata; first.Name != "web" || last.Name != "prod-web" ||
		last.Namespace != "team" {
		t.Errorf("converted are %+v", list.Items)
	}
}
