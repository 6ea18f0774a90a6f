// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func fullScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha.AddToScheme(scheme), AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// TestScopes: every listed scope equals the scope in the CRD or, for kinds of Kubernetes, in client-go.
func TestScopes(t *testing.T) {
	want := scopesOfCRDs(t, "../api/crds", "crds", "../test/steps/projects/crds")
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	for group, typed := range map[string]any{
		"": client.CoreV1(), "authentication.k8s.io": client.AuthenticationV1(), "authorization.k8s.io": client.AuthorizationV1(),
	} {
		for kind, scope := range scopesOfClient(typed) {
			want[schema.GroupKind{Group: group, Kind: kind}] = scope
		}
	}
	for kind, scope := range scopes {
		if want[kind] != scope {
			t.Errorf("%s is listed with scope %s, and is %v", kind, scope.Name(), want[kind])
		}
	}
}

// crd has the fields of a CRD that are read.
type crd struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
	} `json:"spec"`
}

// scopesOfCRDs are the scopes of the kinds that are defined in directories. Every one of these must be listed.
func scopesOfCRDs(t *testing.T, dirs ...string) map[schema.GroupKind]meta.RESTScope {
	t.Helper()
	found := map[schema.GroupKind]meta.RESTScope{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no CRDs in %s: %v", dir, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var definition crd
			if err := yaml.Unmarshal(content, &definition); err != nil {
				t.Fatal(err)
			}
			kind := schema.GroupKind{Group: definition.Spec.Group, Kind: definition.Spec.Names.Kind}
			found[kind] = meta.RESTScopeNamespace
			if definition.Spec.Scope == "Cluster" {
				found[kind] = meta.RESTScopeRoot
			}
			// Cells and slices are in cells and on the hub only, and registrations are Milo's own.
			if scopes[kind] == nil && !slices.Contains([]string{"Cell", v1alpha.KindInstanceSlice, "ResourceRegistration"}, kind.Kind) {
				t.Errorf("%s of %s is not listed", kind, file)
			}
		}
	}
	return found
}

// scopesOfClient derives scopes from a typed client: its methods for namespaced resources have a parameter.
func scopesOfClient(typed any) map[string]meta.RESTScope {
	found := map[string]meta.RESTScope{}
	for method := range reflect.TypeOf(typed).Methods() {
		scope := meta.RESTScope(meta.RESTScopeRoot)
		// The receiver is the first argument.
		if method.Type.NumIn() == 2 {
			scope = meta.RESTScopeNamespace
		}
		found[strings.TrimSuffix(method.Name, "s")] = scope
	}
	return found
}

// TestUnlistedKind: the error for a kind that is not listed names it, and no request is sent.
func TestUnlistedKind(t *testing.T) {
	scheme := fullScheme(t)
	mapper, err := NewRESTMapper(scheme)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(&rest.Config{Host: "http://localhost:1"}, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	_, newErr := NewProvider(ProviderOptions{
		Scheme: scheme, Shards: 1, Log: logr.Discard(), Kinds: []client.Object{&v1alpha.Workload{}, &corev1.Node{}},
	})
	_, mappingsErr := mapper.RESTMappings(schema.GroupKind{Kind: "Node"})
	for name, err := range map[string]error{
		"get": c.Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Node{}), "list": c.List(t.Context(), &corev1.NodeList{}),
		"a new Provider": newErr, "all mappings": mappingsErr,
	} {
		if err == nil || !strings.Contains(err.Error(), "scope of kind Node is not known") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// TestSchemes: kinds that a scheme lacks are not mapped, and a scheme without Milo's types is an error.
func TestSchemes(t *testing.T) {
	few := runtime.NewScheme()
	if err := AddToScheme(few); err != nil {
		t.Fatal(err)
	}
	mapper, err := NewRESTMapper(few)
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "networking.datumapis.com", Kind: "LocationBinding"}, "v1alpha")
	if err != nil || mapping.Scope != meta.RESTScopeRoot || mapping.Resource.Resource != "locationbindings" {
		t.Errorf("mapping is %+v, %v", mapping, err)
	}
	if _, err := mapper.RESTMapping(schema.GroupKind{Kind: "Secret"}, "v1"); err == nil {
		t.Error("a kind that the scheme lacks was mapped")
	}
	if _, err := NewRESTMapper(clientgoscheme.Scheme); err == nil {
		t.Error("a scheme without Projects was accepted")
	}
}

// TestNetworkIsMapped: although no type of the scheme is read.
func TestNetworkIsMapped(t *testing.T) {
	mapper, err := NewRESTMapper(fullScheme(t))
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "networking.datumapis.com", Kind: KindNetwork}, "v1alpha")
	if err != nil || mapping.Resource.Resource != "networks" || mapping.Scope != meta.RESTScopeNamespace {
		t.Errorf("got %+v, %v", mapping, err)
	}
}
