// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) {
	files, err := karmadaCRDs(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(testenv.Main(m, testenv.Options{
		CRDPaths: files, CRDs: []*apiextensionsv1.CustomResourceDefinition{certificateCRD(), clusterCRD()}, NewEvents: true,
	}))
}

// karmadaCRDs are the files of Karmada's kinds that the chart has objects of.
func karmadaCRDs(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/karmada-io/karmada").Output()
	if err != nil {
		return nil, fmt.Errorf("find the module of Karmada: %w", err)
	}
	// The root of the examples' Milo has Projects.
	files := []string{
		filepath.Join("milo", "crds", "resourcemanager.miloapis.com_projects.yaml"),
		filepath.Join("hub", "names", "testdata", "dnsendpoints.yaml"),
	}
	for _, file := range []string{
		"policy/policy.karmada.io_clusterpropagationpolicies.yaml", "policy/policy.karmada.io_clusteroverridepolicies.yaml",
		"policy/policy.karmada.io_propagationpolicies.yaml", "work/work.karmada.io_works.yaml", "work/work.karmada.io_resourcebindings.yaml",
		"policy/policy.karmada.io_overridepolicies.yaml", "work/work.karmada.io_clusterresourcebindings.yaml",
		"networking/networking.karmada.io_multiclusterservices.yaml",
		"config/config.karmada.io_resourceinterpretercustomizations.yaml",
		"config/config.karmada.io_resourceinterpreterwebhookconfigurations.yaml",
	} {
		files = append(files, filepath.Join(strings.TrimSpace(string(out)), "charts", "karmada", "_crds", "bases", filepath.FromSlash(file)))
	}
	return files, nil
}

// certificateCRD stands for cert-manager's kind, and clusterCRD for the kind of Karmada's aggregated API server.
func certificateCRD() *apiextensionsv1.CustomResourceDefinition {
	return standIn("cert-manager.io", "v1", apiextensionsv1.NamespaceScoped, "Certificate")
}

func clusterCRD() *apiextensionsv1.CustomResourceDefinition {
	return standIn("cluster.karmada.io", "v1alpha1", apiextensionsv1.ClusterScoped, "Cluster")
}

func standIn(group, version string, scope apiextensionsv1.ResourceScope, kind string) *apiextensionsv1.CustomResourceDefinition {
	singular := strings.ToLower(kind)
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: singular + "s." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: singular + "s", Singular: singular, Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
				},
			}},
		},
	}
}

func newClient(t *testing.T) client.Client {
	t.Helper()
	c, err := client.New(testenv.Config(t), client.Options{Scheme: testenv.Scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// apply applies objects in their order, as the addon does, and then applies them again, which must change nothing.
func apply(t testing.TB, c client.Client, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		if object.GetNamespace() != "" {
			ensureNamespace(t, c, object.GetNamespace())
		}
		if object.GetKind() == "ValidatingWebhookConfiguration" {
			// No server answers there.
			t.Cleanup(func() { unregister(t, c, object) })
		}
		versions := map[string]bool{}
		for range 2 {
			applied := object.DeepCopy()
			if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.ForceOwnership,
				client.FieldOwner("charts-test")); err != nil {
				t.Errorf("apply %s: %v", id(object), err)
				break
			}
			versions[applied.GetResourceVersion()] = true
		}
		if len(versions) > 1 || versions[""] {
			t.Errorf("%s changes when it is applied again: its versions are %v", id(object), versions)
		}
	}
}

func unregister(t testing.TB, c client.Client, configuration client.Object) {
	t.Helper()
	// The context of the test has ended.
	if err := client.IgnoreNotFound(c.Delete(context.WithoutCancel(t.Context()), configuration)); err != nil {
		t.Error(err)
	}
}

func ensureNamespace(t testing.TB, c client.Client, name string) {
	t.Helper()
	namespace := &unstructured.Unstructured{
		Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}},
	}
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(namespace),
		client.FieldOwner("charts-test-namespaces")); err != nil {
		t.Fatal(err)
	}
}

// TestApply: a kube-apiserver accepts every object of every example, and objects that no example uses. The CRDs are
// always the same, and large.
func TestApply(t *testing.T) {
	c := newClient(t)
	all := examples(t)
	all["defaults"] = values()
	all["separate"] = values(shown, set{
		"host.separateWebhooks": true, "host.networkPolicy.egress": []any{map[string]any{"to": peers}}, "access.hub.kubeconfig": "a",
	})
	all["registered by the chart"] = values(made, set{"webhooks.url": "https://hooks.example"})
	all["registered by the chart as a webhook"] = values(called, set{"webhooks.addOnUsers": []any{"a"}, "admission.namespaceSelector": "a=b"})
	for name, example := range all {
		for _, part := range partsOf(example) {
			t.Run(name+"/"+part, func(t *testing.T) {
				objects := renderExample(t, example, part)
				if name != "defaults" {
					objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "CustomResourceDefinition" })
				}
				apply(t, c, objects)
			})
		}
	}
}

// TestPodsAreRestricted: the Pods of every Deployment are admitted to a namespace of the Pod security standard
// restricted.
func TestPodsAreRestricted(t *testing.T) {
	c := newClient(t)
	namespace := testenv.Namespace(t, c, "restricted")
	namespace.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	if err := c.Update(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	all := examples(t)
	all["separate"] = values(set{"host.separateWebhooks": true})
	for name, example := range all {
		for _, part := range partsOf(example) {
			for _, object := range renderExample(t, example, part) {
				if object.GetKind() != "Deployment" {
					continue
				}
				template, _, err := unstructured.NestedMap(object.Object, "spec", "template")
				if err != nil {
					t.Fatal(err)
				}
				created := &corev1.Pod{}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(template, created, true); err != nil {
					t.Fatal(err)
				}
				created.Namespace, created.Name = namespace.Name, strings.ToLower(strings.TrimSuffix(name, ".yaml"))+"-"+object.GetName()
				if err := c.Create(t.Context(), created, client.DryRunAll); err != nil {
					t.Errorf("%s: %s: %v", name, id(object), err)
				}
			}
		}
	}
}

// TestNameOfWorkload verifies that the kind itself refuses a name that no deployment could have, and names the field:
// admission may be off.
func TestNameOfWorkload(t *testing.T) {
	c := newClient(t)
	workload := newWorkload(testenv.Namespace(t, c, "names").Name, "web.shop")
	err := c.Create(t.Context(), workload)
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("got %v", err)
	}
	if causes := status.Status().Details.Causes; len(causes) != 1 || causes[0].Field != "metadata.name" ||
		!strings.Contains(causes[0].Message, "DNS label") {
		t.Errorf("got %+v", causes)
	}
	workload.SetName("web")
	if err := c.Create(t.Context(), workload); err != nil {
		t.Error(err)
	}
}

// newWorkload returns a Workload that its kind accepts, if it has a valid name.
func newWorkload(namespace, name string) *unstructured.Unstructured {
	workload := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"template": map[string]any{"spec": map[string]any{
			"runtime": map[string]any{
				"resources": map[string]any{},
				"sandbox":   map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.example/app:1"}}},
			},
			"networkInterfaces": []any{map[string]any{"network": map[string]any{"name": "default"}}},
		}},
		"placements": []any{map[string]any{"name": "main", "cityCodes": []any{"DFW"}, "scaleSettings": map[string]any{"minReplicas": int64(1)}}},
	}}}
	workload.SetGroupVersionKind(v1alpha.GroupVersion.WithKind("Workload"))
	workload.SetNamespace(namespace)
	workload.SetName(name)
	return workload
}

// TestWhatAdmissionReviews verifies, with a webhook that no server answers, that changes outside of the spec need no
// replica, except for the annotation that is refused.
func TestWhatAdmissionReviews(t *testing.T) {
	c := newClient(t)
	workload := newWorkload(testenv.Namespace(t, c, "reviews").Name, "web")
	instanceType := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{"resources": map[string]any{"cpu": "1", "memory": "1Gi"}}},
	}
	instanceType.SetGroupVersionKind(v1alpha.GroupVersion.WithKind("InstanceType"))
	instanceType.SetName("reviewed")
	for _, object := range []*unstructured.Unstructured{workload, instanceType} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unregister(t, c, object) })
	}
	registerNobody(t, c)
	patch := func(object *unstructured.Unstructured, patch string, options ...client.PatchOption) error {
		return c.Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)), options...)
	}
	reviewed := func(err error) bool { return err != nil && strings.Contains(err.Error(), "failed calling webhook") }
	const respec = `{"spec":{"template":{"spec":{"runtime":{"resources":{"instanceType":"small"}}}}}}`
	// Nothing is stored before the API server knows the registration: a stored change would change nothing the next time.
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return reviewed(patch(workload, respec, client.DryRunAll)) &&
			reviewed(patch(instanceType, `{"spec":{"displayName":"other"}}`, client.DryRunAll)), nil
	}); err != nil {
		t.Fatal("a change of the spec is not reviewed")
	}
	for _, object := range []*unstructured.Unstructured{workload, instanceType} {
		for _, step := range []struct {
			patch string
			want  bool
		}{
			{`{"metadata":{"labels":{"a":"b"},"finalizers":["example.com/a"]}}`, false},
			{`{"metadata":{"annotations":{"compute.datumapis.com/suspended":"true"}}}`, true},
			{`{"metadata":{"annotations":{"example.com/a":"b"}}}`, false},
			{`{"metadata":{"annotations":{"compute.datumapis.com/suspended":"true"}}}`, true},
			{`{"metadata":{"annotations":null,"finalizers":null}}`, false},
		} {
			if err := patch(object, step.patch); reviewed(err) != step.want || err != nil && !step.want {
				t.Errorf("%s: %s: got %v, want a review: %t", object.GetKind(), step.patch, err, step.want)
			}
		}
	}
}

// registerNobody registers admission at an address where no server listens.
func registerNobody(t *testing.T, c client.Client) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("karmada-compute", "files", "configurations", "admission.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := yaml.UnmarshalStrict(content, configuration); err != nil {
		t.Fatal(err)
	}
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/nobody")}
	}
	t.Cleanup(func() { unregister(t, c, configuration) })
	if err := c.Create(t.Context(), configuration); err != nil {
		t.Fatal(err)
	}
}
