// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"os"
	"slices"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

var kind = schema.GroupVersionKind{Group: "networking.datumapis.com", Version: "v1alpha", Kind: "Network"}

// serve adds networks to the kinds that the project serves.
func serve(t *testing.T, p *planes.Planes) {
	t.Helper()
	serveKind(t, p, "networks", kind.Kind)
}

// serveKind adds a kind of the group of networks to the kinds that the project serves.
func serveKind(t *testing.T, p *planes.Planes, plural, name string) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + kind.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: name, ListKind: name + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: kind.Version, Served: true, Storage: true, Subresources: withStatus,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
				},
			}},
		},
	}
	if _, err := envtest.InstallCRDs(p.Config(), envtest.CRDInstallOptions{
		CRDs: []*apiextensionsv1.CustomResourceDefinition{crd},
	}); err != nil {
		t.Fatal(err)
	}
}

// TestMissing: each step asks again after the previous answer has expired.
func TestMissing(t *testing.T) {
	p := planes.New(t)
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	networks := New(kind, clock)
	named := []types.NamespacedName{{Namespace: p.Namespace.Name, Name: "default"}, {Namespace: p.Namespace.Name, Name: "second"}}
	expect := func(what string, wantAsked int, want ...types.NamespacedName) {
		t.Helper()
		p.Project.Calls()
		cluster, err := p.Get(t.Context(), planes.ProjectName)
		if err != nil {
			t.Fatal(err)
		}
		got := networks.Missing(t.Context(), projects.Project{Cluster: cluster, Name: "north", UID: planes.ProjectUID}, named)
		if !slices.Equal(got, want) {
			t.Errorf("%s: missing are %v, want %v", what, got, want)
		}
		if asked := len(p.Project.Calls()); asked != wantAsked {
			t.Errorf("%s: %d requests, want %d", what, asked, wantAsked)
		}
	}
	pass := func(d time.Duration) { clock.SetTime(clock.Now().Add(d)) }

	// Discovery is not used in a project, so the API server itself answers that it does not serve them.
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{kind.GroupVersion()})
	mapper.Add(kind, meta.RESTScopeNamespace)
	undiscovered, err := client.New(p.Config(), client.Options{Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	wantServed := func(want bool) {
		t.Helper()
		network := &metav1.PartialObjectMetadata{}
		network.SetGroupVersionKind(kind)
		if err := undiscovered.Get(t.Context(), named[1], network); err == nil || isNotServed(err) == want {
			t.Errorf("served is %t by %v", !want, err)
		}
	}

	wantServed(false)
	expect("the project does not serve networks", 2)
	expect("it is not asked again at once", 0)
	serve(t, p)
	wantServed(true)
	pass(presentFor + Retry)
	expect("it serves them and has none", 2, named...)
	expect("that is not asked again at once", 0, named...)
	network := &unstructured.Unstructured{}
	network.SetGroupVersionKind(kind)
	network.SetNamespace(p.Namespace.Name)
	network.SetName("default")
	if err := p.Client.Create(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	pass(Retry)
	expect("one appears", 2, named[1])
	pass(Retry)
	expect("that it exists holds longer", 1, named[1])

	p.Project.Before(func(planes.Call) error { return os.ErrDeadlineExceeded })
	pass(Retry)
	expect("no answer is none", 1)
	p.Project.Before(nil)
	pass(Retry)
	expect("the next answer counts", 1, named[1])
	p.Restrict(t, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}})
	pass(presentFor + Retry)
	expect("the add-on may not get networks", 2)
}
