// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/test/testenv/planes"
)

// earlier returns a hub namespace as an earlier version created it, with the copy of a deployment.
func (f *fixture) earlier(t *testing.T, original *v1alpha.WorkloadDeployment) (*corev1.Namespace, *v1alpha.WorkloadDeployment) {
	t.Helper()
	namespace := f.NewHubNamespace()
	namespace.Name = naming.EarlierHubNamespace(string(f.Namespace.UID))
	delete(namespace.Labels, v1alpha.LabelProjectNamespaceUID)
	copied := f.Deployment(original.Name, f.city)
	copied.Namespace = namespace.Name
	maps.Copy(copied.Labels, namespace.Labels)
	copied.Labels[v1alpha.LabelDeploymentUID] = string(original.UID)
	planes.Change(t, f.Planes, original, func(d *v1alpha.WorkloadDeployment) {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, v1alpha.AnnotationHubNamespace, namespace.Name)
	})
	return planes.Create(t, f.Planes, namespace), planes.Create(t, f.Planes, copied)
}

// TestAHubNamespaceOfAnEarlierVersion stays in use, with new deployments as well, and is deleted with the last one.
func TestAHubNamespaceOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	for _, forged := range []bool{false, true} {
		f := newFixture(t)
		namespace, copied := f.earlier(t, f.original)
		if forged {
			planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { delete(d.Annotations, v1alpha.AnnotationHubNamespace) })
		}
		f.mustReconcile(t, "web")
		if planes.Exists(t, f.Planes, f.namespace()) {
			t.Fatal("a second hub namespace was created")
		}
		if got := read(t, f, copied); got.UID != copied.UID || !got.DeletionTimestamp.IsZero() {
			t.Error("the copy was replaced")
		}
		if got := read(t, f, namespace).Labels[v1alpha.LabelProjectNamespaceUID]; got != string(f.Namespace.UID) {
			t.Errorf("the hub namespace has the UID %q of the namespace in the project", got)
		}
		if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
			t.Errorf("after that it writes %v", writes)
		}
		planes.Create(t, f.Planes, f.Deployment("other", f.city))
		f.mustReconcile(t, "other")
		if planes.Exists(t, f.Planes, f.namespace()) {
			t.Error("a new deployment gets another hub namespace")
		}
		for _, name := range []string{"web", "other"} {
			planes.Delete(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, name, &v1alpha.WorkloadDeployment{}))
			f.mustReconcile(t, name)
			f.mustReconcile(t, name)
		}
		if planes.Exists(t, f.Planes, f.original) || read(t, f, namespace).DeletionTimestamp.IsZero() {
			t.Error("the last deployment or the hub namespace stays")
		}
	}
}

// TestBothVersionsHaveCreatedHubNamespaces: an earlier version ran for a while, after this one. Running deployments
// remain where they are, and everything is withdrawn in the end.
func TestBothVersionsHaveCreatedHubNamespaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	second := planes.Create(t, f.Planes, f.Deployment("second", f.city))
	namespace, copied := f.earlier(t, second)
	for range 2 {
		f.mustReconcile(t, "second")
		f.mustReconcile(t, "web")
	}
	if got := read(t, f, copied); got.UID != copied.UID || !got.DeletionTimestamp.IsZero() {
		t.Error("the copy of the earlier version was replaced")
	}
	inOwn := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: "second"}}
	if planes.Exists(t, f.Planes, inOwn) || !planes.Exists(t, f.Planes, f.copied()) {
		t.Error("a deployment is in two hub namespaces, or left its own")
	}
	for _, name := range []string{"second", "web"} {
		planes.Delete(t, f.Planes, planes.Get(t, f.Planes, f.Namespace.Name, name, &v1alpha.WorkloadDeployment{}))
		for range 3 {
			f.mustReconcile(t, name)
		}
	}
	for _, hubNamespace := range []*corev1.Namespace{namespace, f.namespace()} {
		if read(t, f, hubNamespace).DeletionTimestamp.IsZero() {
			t.Errorf("hub namespace %s stays", hubNamespace.Name)
		}
	}
}
