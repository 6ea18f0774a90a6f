// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/charts"
)

var projectParties = map[string][]string{"consumer": {"matrix-consumer"}, "reader": {"matrix-reader"}}

// setUpMatrixProject turns the API server into the control plane of a project: it serves the kinds of Milo, and the chart
// installs no policy. The roles for consumers are bound in all namespaces, since the whole control plane is the project.
func setUpMatrixProject(t *testing.T, admin client.Client, store func(client.Client)) {
	t.Helper()
	const networking, quota = "networking.datumapis.com", "quota.miloapis.com"
	serveKinds(t, admin, "v1alpha", standIn(networking, "v1alpha", apiextensionsv1.NamespaceScoped, "Network"),
		standIn(networking, "v1alpha", apiextensionsv1.NamespaceScoped, "NetworkBinding"),
		standIn(networking, "v1alpha", apiextensionsv1.ClusterScoped, "LocationBinding"))
	serveKinds(t, admin, "v1alpha1", standIn(quota, "v1alpha1", apiextensionsv1.NamespaceScoped, "AllowanceBucket"),
		standIn(quota, "v1alpha1", apiextensionsv1.NamespaceScoped, "ResourceGrant"),
		standIn(quota, "v1alpha1", apiextensionsv1.NamespaceScoped, "ResourceClaim"))
	ensureNamespace(t, admin, "matrix-of-milo")
	users := projectParties
	for file, party := range map[string]string{"consumer": "consumer", "viewer": "reader"} {
		role := &rbacv1.ClusterRole{}
		content, err := charts.FS.ReadFile("karmada-compute/files/roles/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(content, role); err != nil {
			t.Fatal(err)
		}
		role.Name = "matrix-project-" + file
		ensureAll(t, admin, role, bindParty("", role.Name, users[party]...))
	}
	ensureAll(t, admin, bindParty("", "system:aggregate-to-edit", users["consumer"]...),
		bindParty("", "system:aggregate-to-view", users["reader"]...))
	store(admin)
	awaitInForce(t, admin)
}

// serveKinds adds kinds until the test ends.
func serveKinds(t *testing.T, admin client.Client, version string, kinds ...*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, kind := range kinds {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(kind)
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{Object: content}
		object.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		ensure(t, admin, object)
		t.Cleanup(func() { unserve(t, admin, object) })
	}
	for _, kind := range kinds {
		object := ofKind(kind.Spec.Group+"/"+version, kind.Spec.Names.Kind, "", "none", nil)
		if kind.Spec.Scope == apiextensionsv1.NamespaceScoped {
			object.SetNamespace("default")
		}
		await(t, kind.Name+" is not served", func() bool {
			return apierrors.IsNotFound(admin.Get(t.Context(), client.ObjectKeyFromObject(object), object.DeepCopy()))
		})
	}
}

// unserve deletes a kind, and waits until it is gone, so that another test can serve it again.
func unserve(t *testing.T, c client.Client, kind client.Object) {
	t.Helper()
	unregister(t, c, kind)
	ctx := context.WithoutCancel(t.Context())
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(kind), kind)), nil
	}); err != nil {
		t.Errorf("%s is still served: %v", kind.GetName(), err)
	}
}
