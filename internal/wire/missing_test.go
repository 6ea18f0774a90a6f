// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestIsMissing: client-go names the object that was asked for also where the API server does not serve the kind.
func TestIsMissing(t *testing.T) {
	t.Parallel()
	unserved := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(unserved.Close)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	c, err := client.New(&rest.Config{Host: unserved.URL}, client.Options{Scheme: scheme.Scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "web"}, &corev1.ConfigMap{})
	if !apierrors.IsNotFound(err) || IsMissing(err, "web") || !IsUnserved(err) {
		t.Errorf("a kind that is not served: %v", err)
	}
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); !IsUnserved(err) {
		t.Errorf("a list of a kind that is not served: %v", err)
	}
	missing := apierrors.NewNotFound(corev1.Resource("configmaps"), "web")
	if !IsMissing(missing, "web") || IsMissing(missing, "other") || IsUnserved(missing) {
		t.Error("an object that does not exist is not missing")
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), "web", nil)
	if !IsUnserved(&meta.NoKindMatchError{}) || IsUnserved(nil) || IsUnserved(forbidden) {
		t.Error("an answer about a kind")
	}
}

// TestOneReaderOfAMissingKind: what a controller concludes from a kind that is not served, it asks IsUnserved. Discovery, which asks
// for kinds, reads the mapper's errors itself.
func TestOneReaderOfAMissingKind(t *testing.T) {
	t.Parallel()
	discovers := []string{
		"cell/services/export.go", "hub/names/records.go", "internal/wire/missing.go", "milo/planes.go", "internal/reasons/karmada.go",
	}
	root := filepath.Join("..", "..")
	for _, folder := range []string{"cell", "hub", "internal", "milo", "namespaces", "webhook"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			if strings.Contains(string(content), "IsNoMatchError(") && !slices.Contains(discovers, filepath.ToSlash(name)) {
				t.Errorf("%s: use wire.IsUnserved and wire.IsMissing", name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
