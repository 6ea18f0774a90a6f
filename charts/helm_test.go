// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/charts"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// helm is Helm's configuration for a namespace of the test's kube-apiserver.
func helm(t *testing.T, namespace string) *action.Configuration {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false).WithWrapConfigFn(func(*rest.Config) *rest.Config {
		return rest.CopyConfig(testenv.Config(t))
	})
	flags.Namespace = &namespace
	configuration := &action.Configuration{}
	if err := configuration.Init(flags, namespace, "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	return configuration
}

// TestHelmKeepsCRDs: helm upgrade upgrades the CRDs, helm uninstall keeps them with their objects and deletes all
// others, and a later installation takes them over.
func TestHelmKeepsCRDs(t *testing.T) {
	c := newClient(t)
	namespace := testenv.Namespace(t, c, "helm").Name
	configuration := helm(t, namespace)
	// Nothing ends a namespace here. The kube-apiserver of the test has the CRDs already, which Helm takes over only when
	// asked to.
	enabled := values(parts["hub"], set{"hub.namespace": namespace, "agents.enabled": false})
	install := func() error {
		one := action.NewInstall(configuration)
		one.ReleaseName, one.Namespace, one.TakeOwnership = "karmada-compute", namespace, true
		_, err := one.Run(loadFolder(t), enabled)
		return err
	}
	if err := install(); err != nil {
		t.Fatal(err)
	}
	kept := instance(t, c, namespace)

	upgrade := action.NewUpgrade(configuration)
	upgrade.Namespace = namespace
	next := loadFolder(t)
	for _, file := range next.Files {
		if file.Name == "files/crds/instances.yaml" {
			file.Data = []byte(strings.Replace(string(file.Data), "    - inst\n", "    - inst\n    - later\n", 1))
		}
	}
	if _, err := upgrade.Run("karmada-compute", next, enabled); err != nil {
		t.Fatal(err)
	}
	if names, _, err := unstructured.NestedStringSlice(crd(t, c).Object, "spec", "names", "shortNames"); err != nil ||
		!slices.Contains(names, "later") {
		t.Errorf("the CRD has the short names %v after an upgrade: %v", names, err)
	}

	if _, err := action.NewUninstall(configuration).Run("karmada-compute"); err != nil {
		t.Fatal(err)
	}
	if deleted := crd(t, c).GetDeletionTimestamp(); deleted != nil {
		t.Error("the CRD is deleted by an uninstallation")
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(kept), kept); err != nil {
		t.Error(err)
	}
	role := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"}}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "karmada-compute-hub"}, role); !apierrors.IsNotFound(err) {
		t.Errorf("the ClusterRole is there after an uninstallation: %v", err)
	}
	if err := install(); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), kept); err != nil {
		t.Error(err)
	}
}

// TestAnotherToolTakesTheCRDs: Helm 4 and Argo CD apply on the server. The CustomResourceDefinitions that karmadactl has
// installed, and the ones of a release with another name, have no field that conflicts at the same version.
func TestAnotherToolTakesTheCRDs(t *testing.T) {
	c := newClient(t)
	for _, release := range []charts.Release{{ManagedBy: "karmadactl"}, {Name: "compute-hub"}, {Name: "argo"}} {
		objects, err := charts.Render(values(parts["hub"]), release)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if object.GetKind() != "CustomResourceDefinition" {
				continue
			}
			options := []client.ApplyOption{client.FieldOwner("tool-" + release.Name)}
			if release.Name == "" {
				// Other tests have applied them.
				options = append(options, client.ForceOwnership)
			} else {
				// Helm adds it to every object.
				object.SetLabels(labels.Merge(object.GetLabels(), labels.Set{"app.kubernetes.io/managed-by": "Helm"}))
			}
			if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), options...); err != nil {
				t.Errorf("release %q: %v", release.Name, err)
			}
		}
	}
}

// loadFolder loads the chart as Helm does.
func loadFolder(t *testing.T) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load("karmada-compute")
	if err != nil {
		t.Fatal(err)
	}
	// The kube-apiserver of the test is built from source and reports no version.
	loaded.Metadata.KubeVersion = ""
	return loaded
}

func crd(t *testing.T, c client.Client) *unstructured.Unstructured {
	t.Helper()
	found := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "instances.compute.datumapis.com"}, found); err != nil {
		t.Fatal(err)
	}
	return found
}

// instance creates an Instance.
func instance(t *testing.T, c client.Client, namespace string) *unstructured.Unstructured {
	t.Helper()
	created := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "compute.datumapis.com/v1alpha", "kind": "Instance",
		"metadata": map[string]any{"name": "kept", "namespace": namespace},
		"spec": map[string]any{
			"networkInterfaces": []any{map[string]any{"network": map[string]any{"name": "default"}}},
			"runtime": map[string]any{
				"resources": map[string]any{"instanceType": "datumcloud/d1-standard-2"},
				"sandbox":   map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.example/app:1"}}},
			},
		},
	}}
	if err := c.Create(t.Context(), created); err != nil {
		t.Fatal(err)
	}
	return created
}
