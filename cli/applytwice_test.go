// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/apply"
	"k8s.io/kubectl/pkg/cmd/diff"
	"k8s.io/kubectl/pkg/cmd/scale"
	"k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// everyDefault is a Workload without the fields that have a default, in every list with one.
const everyDefault = `apiVersion: compute.datumapis.com/v1alpha
kind: Workload
metadata: {name: defaults}
spec:
  template:
    spec:
      runtime:
        resources: {}
        sandbox:
          containers:
          - name: app
            image: registry.example/app:1
            ports: [{name: http, port: 8080}]
            env:
            - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
            - {name: KEY, valueFrom: {configMapKeyRef: {name: settings, key: key}}}
            readinessProbe: {grpc: {port: 8080}}
            livenessProbe: {httpGet: {port: 8080}}
            resources: {limits: {cpu: 500m, memory: "67108864"}}
            volumeAttachments: [{name: settings, mountPath: /settings}]
      networkInterfaces: [{network: {name: default}}]
      volumes: [{name: settings, configMap: {name: settings}}]
  placements: [{name: main, cityCodes: [DFW], scaleSettings: {minReplicas: 1}}]
`

// TestAppliedTwiceNothingChanges: the second apply of each manifest of the documentation is unchanged, kubectl diff is
// empty and the generation stays, client-side, server-side and when both alternate.
func TestAppliedTwiceNothingChanges(t *testing.T) {
	f := newFixture(t)
	manifests := append(documented(t), everyDefault)
	if len(manifests) < 4 {
		t.Fatalf("the documentation has %d Workloads", len(manifests)-1)
	}
	for i, manifest := range manifests {
		w := &v1alpha.Workload{}
		if err := yaml.Unmarshal([]byte(manifest), w); err != nil {
			t.Fatalf("%v: %s", err, manifest)
		}
		w.Namespace = cmp.Or(w.Namespace, f.Namespace.Name)
		file := filepath.Join(t.TempDir(), "workload.yaml")
		if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, how := range [][]string{nil, {"--server-side"}, {"--server-side", "--field-manager=argocd-controller", "--force-conflicts"}} {
			run := func() string { return f.kubectlItself(append([]string{"apply", "-f", file}, how...)...) }
			run()
			before := storedVersion(f, w)
			if out := run(); len(how) == 0 && !strings.Contains(out, "unchanged") {
				t.Errorf("manifest %d, apply %v: %s", i, how, out)
			}
			if after := storedVersion(f, w); after != before {
				t.Errorf("manifest %d, apply %v: the version is %s, before %s", i, how, after, before)
			}
		}
		if out := f.kubectlItself("diff", "-f", file); out != "" {
			t.Errorf("manifest %d: kubectl diff prints %s", i, out)
		}
		if err := f.Client.Delete(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
}

// kubectlItself calls kubectl apply, diff or scale, and returns what it prints.
func (f *fixture) kubectlItself(args ...string) string {
	f.Helper()
	out := &buffer{}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: out}
	flags := genericclioptions.NewConfigFlags(true)
	kubeconfig := f.kubeconfig(f.Config())
	flags.KubeConfig = &kubeconfig
	factory := util.NewFactory(flags)
	util.BehaviorOnFatal(func(message string, code int) {
		panic(fmt.Sprintf("kubectl %s: exit code %d: %s%s", strings.Join(args, " "), code, out.String(), message))
	})
	defer util.DefaultBehaviorOnFatal()
	root := &cobra.Command{Use: "kubectl"}
	root.AddCommand(apply.NewCmdApply("kubectl", factory, streams), diff.NewCmdDiff(factory, streams), scale.NewCmdScale(factory, streams))
	root.SetArgs(args)
	if err := root.ExecuteContext(f.Context()); err != nil {
		f.Fatal(err)
	}
	return out.String()
}

func storedVersion(f *fixture, w *v1alpha.Workload) string {
	f.Helper()
	stored := &v1alpha.Workload{}
	if err := f.Client.Get(f.Context(), client.ObjectKeyFromObject(w), stored); err != nil {
		f.Fatal(err)
	}
	return stored.ResourceVersion
}

// documented returns the complete Workloads in the documentation.
func documented(t *testing.T) []string {
	t.Helper()
	workload := regexp.MustCompile("(?ms)^apiVersion: compute.datumapis.com/v1alpha\nkind: Workload\n.*?(^EOF$|^END$|^---$|^```$|\\z)")
	var found []string
	read := func(path string) error {
		content, err := os.ReadFile(path)
		for _, document := range workload.FindAllString(string(content), -1) {
			if strings.Contains(document, "template:") && strings.Contains(document, "placements:") {
				found = append(found, strings.TrimRight(document, "EOFND`-\n"))
			}
		}
		return err
	}
	err := filepath.WalkDir("../docs", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		return read(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
