// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, testenv.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{clusterKind()}}))
}

// clusterKind is the kind that Karmada's aggregated API server serves.
func clusterKind() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "clusters.cluster.karmada.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "cluster.karmada.io", Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "clusters", Singular: "cluster", Kind: "Cluster", ListKind: "ClusterList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &keep,
				}},
			}},
		},
	}
}

// hub is the API server of the tests, with Planes whose cache runs.
type hub struct {
	*Planes
	admin client.Client
	seen  *seen
}

// seen are the projects that a Watch has reported.
type seen struct {
	mu       sync.Mutex
	projects map[string]*milo.Project
	forgot   map[string]int
}

// Observe remembers a project.
func (s *seen) Observe(project *milo.Project) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.projects[project.Name] = project
}

// Forget forgets a project.
func (s *seen) Forget(project *milo.Project) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.projects, project.Name)
	s.forgot[project.Name]++
}

func (s *seen) project(name string) *milo.Project {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.projects[name]
}

var shared struct {
	sync.Once
	*hub
}

// newHub returns the hub that all tests share.
func newHub(t *testing.T) *hub {
	t.Helper()
	shared.Do(func() {
		scheme := testenv.Scheme(t, v1alpha.AddToScheme, milo.AddToScheme, clusterv1alpha1.Install)
		planes, err := New(Options{Hub: testenv.Config(t), Scheme: scheme, Log: logr.Discard()})
		if err != nil {
			t.Fatal(err)
		}
		admin, err := client.New(testenv.Config(t), client.Options{Scheme: scheme})
		if err != nil {
			t.Fatal(err)
		}
		h := &hub{Planes: planes, admin: admin, seen: &seen{projects: map[string]*milo.Project{}, forgot: map[string]int{}}}
		watch := NewWatch(planes, logr.Discard(), h.seen)
		go func() { _ = watch.Start(testenv.Context()) }()
		shared.hub = h
	})
	if shared.hub == nil {
		t.Fatal("the hub of the tests has not started")
	}
	return shared.hub
}

// namespace creates a namespace with labels.
func (h *hub) namespace(t *testing.T, labels map[string]string) *corev1.Namespace {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-" + rand.String(6), Labels: labels}}
	if err := h.admin.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace
}

// project creates a namespace that is a project.
func (h *hub) project(t *testing.T) *corev1.Namespace {
	t.Helper()
	return h.namespace(t, map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceProject})
}

// change changes a namespace.
func (h *hub) change(t *testing.T, namespace *corev1.Namespace, change func(*corev1.Namespace)) {
	t.Helper()
	before := client.MergeFrom(namespace.DeepCopy())
	change(namespace)
	if err := h.admin.Patch(t.Context(), namespace, before); err != nil {
		t.Fatal(err)
	}
}

// deployment creates a WorkloadDeployment.
func (h *hub) deployment(t *testing.T, namespace, name, city string, change func(*v1alpha.WorkloadDeployment)) *v1alpha.WorkloadDeployment {
	t.Helper()
	d := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha.WorkloadDeploymentSpec{
			CityCode: city, PlacementName: "main", ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
			WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "1"},
			Template:    template(),
		},
	}
	if change != nil {
		change(d)
	}
	if err := h.admin.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Finalizers = nil
		_ = h.admin.Update(context.Background(), d)
		_ = h.admin.Delete(context.Background(), d)
	})
	return d
}

// template is the smallest template.
func template() v1alpha.InstanceTemplateSpec {
	return v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
		NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
		Runtime: v1alpha.InstanceRuntimeSpec{
			Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "web", Image: "nginx"}}},
		},
	}}
}

// cell creates a Cluster with a city.
func (h *hub) cell(t *testing.T, city string) *clusterv1alpha1.Cluster {
	t.Helper()
	cell := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Name: "cell-" + rand.String(6), Labels: map[string]string{v1alpha.LabelTopologyCity: city},
	}}
	if err := h.admin.Create(t.Context(), cell); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.admin.Delete(context.Background(), cell) })
	return cell
}

// confirm labels the namespace of a cell's Works with a city, and returns it.
func (h *hub) confirm(t *testing.T, cell *clusterv1alpha1.Cluster, city string) *corev1.Namespace {
	t.Helper()
	works := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: karmadanames.GenerateExecutionSpaceName(cell.Name), Labels: map[string]string{v1alpha.LabelTopologyCity: city},
	}}
	if err := h.admin.Create(t.Context(), works); err != nil {
		t.Fatal(err)
	}
	return works
}

// eventually waits until check holds.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for !check() {
		select {
		case <-deadline:
			t.Fatalf("not within 30 s: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
