// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestConvertCommand: stdout has only the Workload, so that it can be applied; stderr lists the losses.
func TestConvertCommand(t *testing.T) {
	run := func(in string, args ...string) (out, errOut string, err error) {
		var stdout, stderr bytes.Buffer
		command := New(Options{
			Use: "kubectl-compute", Flags: genericclioptions.NewConfigFlags(true), Clock: clocktesting.NewFakePassiveClock(now),
			Streams: genericiooptions.IOStreams{In: strings.NewReader(in), Out: &stdout, ErrOut: &stderr},
		})
		command.SetArgs(append([]string{"convert"}, args...))
		err = command.Execute()
		return stdout.String(), stderr.String(), err
	}
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, " +
		"spec: {template: {spec: {hostNetwork: true, containers: [{name: web, image: 'registry.example.com/web:1'}]}}}}"
	out, errOut, err := run(deployment, "-f", "-", "--city", "DFW,ORD", "--network", "edge", "--instance-type", "datumcloud-d1-standard-2")
	for _, want := range []string{"kind: Workload\n", "    - DFW\n    - ORD\n", "name: edge\n", "instanceType: datumcloud-d1-standard-2\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "status") || !strings.Contains(errOut, "Deployment web: spec.template.spec.hostNetwork: ") || err != nil {
		t.Errorf("%v: %s%s", err, out, errOut)
	}
	for want, args := range map[string][]string{
		"--filename": {"--city", "DFW"}, "--city": {"-f", "-"}, "no such file": {"-f", "/does/not/exist", "--city", "DFW"},
		"is a URL": {"-f", "https://example.com/a.yaml", "--city", "DFW"}, "no Deployment": {"-f", "-", "--city", "DFW"},
	} {
		if out, _, err := run("", args...); err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
