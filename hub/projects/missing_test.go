// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"net/http"
	"net/http/httptest"
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
	if !apierrors.IsNotFound(err) || IsMissing(err, "web") {
		t.Errorf("a kind that is not served: %v", err)
	}
	if !IsMissing(apierrors.NewNotFound(corev1.Resource("configmaps"), "web"), "web") {
		t.Error("an object that does not exist is not missing")
	}
}
