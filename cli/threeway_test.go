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

	helm "helm.sh/helm/v3/pkg/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/convert"
)

// TestThreeWayAppliedTwice: when Helm upgrades to the same manifest, or a server-side apply repeats it, nothing is
// written, and the three-way difference that Argo CD shows is empty. It takes the manifests of the documentation, and
// what `convert` prints for each shape of its corpus.
func TestThreeWayAppliedTwice(t *testing.T) {
	f := newFixture(t)
	flags := genericclioptions.NewConfigFlags(true)
	kubeconfig := f.kubeconfig(f.Config())
	flags.KubeConfig, flags.Namespace = &kubeconfig, &f.Namespace.Name
	release := helm.New(flags)
	// Helm logs each object.
	release.Log = func(string, ...any) {}

	manifests, applied := append(append(documented(t), everyDefault), converted(t)...), 0
	for _, manifest := range manifests {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
			t.Fatal(err)
		}
		object.SetNamespace(f.Namespace.Name)
		if f.threeWay(release, object) {
			applied++
		}
	}
	if applied < 70 {
		t.Errorf("of %d manifests, %d are applied", len(manifests), applied)
	}
}

// threeWay installs a manifest by Helm and upgrades to the same one, and then applies it twice. It reports whether the
// API server takes the manifest: the list of `convert` names what it refuses.
func (f *fixture) threeWay(release *helm.Client, manifest *unstructured.Unstructured) bool {
	f.Helper()
	encoded, err := json.Marshal(manifest)
	if err != nil {
		f.Fatal(err)
	}
	build := func() helm.ResourceList {
		resources, err := release.Build(bytes.NewReader(encoded), false)
		if err != nil {
			f.Fatal(err)
		}
		return resources
	}
	if _, err := release.Create(build()); err != nil {
		if !apierrors.IsInvalid(err) {
			f.Errorf("%s: %v", manifest.GetName(), err)
		}
		return false
	}
	live := f.live(manifest)
	// Of the same manifest and what is stored, as Argo CD compares them.
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(encoded, encoded, live)
	if err != nil || string(patch) != "{}" {
		f.Errorf("%s: the three-way difference is %s, %v", manifest.GetName(), patch, err)
	}
	if _, err := release.UpdateThreeWayMerge(build(), build(), false); err != nil {
		f.Errorf("%s: upgrade: %v", manifest.GetName(), err)
	}
	if again := f.live(manifest); !bytes.Equal(again, live) {
		f.Errorf("%s: an upgrade to the same manifest writes\n%s\nafter\n%s", manifest.GetName(), again, live)
	}
	for range 2 {
		live = f.live(manifest)
		if err := f.Client.Apply(f.Context(), client.ApplyConfigurationFromUnstructured(manifest.DeepCopy()),
			client.FieldOwner("kustomize-controller"), client.ForceOwnership); err != nil {
			f.Errorf("%s: apply: %v", manifest.GetName(), err)
		}
	}
	if again := f.live(manifest); !bytes.Equal(again, live) {
		f.Errorf("%s: the same apply writes\n%s\nafter\n%s", manifest.GetName(), again, live)
	}
	stored := &v1alpha.Workload{}
	stored.Namespace, stored.Name = manifest.GetNamespace(), manifest.GetName()
	if err := f.Client.Delete(f.Context(), stored); err != nil {
		f.Fatal(err)
	}
	return true
}

// live returns an object as it is stored, as JSON.
func (f *fixture) live(manifest *unstructured.Unstructured) []byte {
	f.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(manifest.GroupVersionKind())
	if err := f.Client.Get(f.Context(), client.ObjectKeyFromObject(manifest), live); err != nil {
		f.Fatal(err)
	}
	encoded, err := live.MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	return encoded
}

// converted returns the Workloads that `convert` prints for its corpus.
func converted(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("convert/testdata/corpus/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var found []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, shapes, _ := strings.Cut(string(content), "# == ")
		for shape := range strings.SplitSeq(shapes, "\n# == ") {
			_, text, _ := strings.Cut(shape, "\n")
			result, err := convert.Manifests([]convert.Input{{Name: file, Reader: strings.NewReader(text)}},
				convert.Options{Cities: []string{"DFW"}, Network: "default"})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := result.Print(&out, "yaml"); err != nil {
				t.Fatal(err)
			}
			for document := range strings.SplitSeq(out.String(), "\n---\n") {
				if strings.Contains(document, "kind: Workload\n") {
					found = append(found, document)
				}
			}
		}
	}
	return found
}
