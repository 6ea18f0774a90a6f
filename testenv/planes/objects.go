// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// Template returns a template of an Instance with one container.
func Template(image string) v1alpha.InstanceTemplateSpec { return simulated.Template(image) }

// Deployment returns a WorkloadDeployment of the project with two replicas, without creating it.
func (p *Planes) Deployment(name, city string) *v1alpha.WorkloadDeployment {
	return &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace.Name, Name: name,
			Labels: map[string]string{
				v1alpha.LabelWorkloadUID: "workload-uid", v1alpha.LabelWorkloadName: "web", v1alpha.LabelPlacementName: "main",
			},
		},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef:   v1alpha.WorkloadReference{Name: "web", UID: "workload-uid"},
			PlacementName: "main", CityCode: city, Template: Template("registry.example/app:1"),
			ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 2, InstanceManagementPolicy: v1alpha.OrderedReady},
		},
	}
}

// EnsureHubNamespace creates the hub namespace if it does not exist.
func (p *Planes) EnsureHubNamespace(t testing.TB) {
	t.Helper()
	err := p.Client.Create(t.Context(), p.NewHubNamespace())
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// NewHubNamespace returns the hub namespace as the add-on creates it.
func (p *Planes) NewHubNamespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: p.HubNamespace,
		Labels: map[string]string{
			v1alpha.LabelProject: naming.ProjectLabel(ProjectName.String()), v1alpha.LabelProjectNamespace: p.Namespace.Name,
			v1alpha.LabelProjectUID: string(ProjectUID), v1alpha.LabelProjectNamespaceUID: string(p.Namespace.UID),
		},
		Annotations: map[string]string{v1alpha.AnnotationProjectName: ProjectName.String()},
	}}
}

// EndHubNamespace deletes the hub namespace at once, as if it were empty. Its objects stay.
func (p *Planes) EndHubNamespace(t testing.TB) {
	t.Helper()
	namespace := Get(t, p, "", p.HubNamespace, &corev1.Namespace{})
	if namespace.DeletionTimestamp.IsZero() {
		Delete(t, p, namespace)
		Get(t, p, "", p.HubNamespace, namespace)
	}
	namespace.Spec.Finalizers = nil
	if err := p.Client.SubResource("finalize").Update(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
}

// Create creates an object and returns it as stored.
func Create[T client.Object](t testing.TB, p *Planes, obj T) T {
	t.Helper()
	if err := p.Client.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// Get reads an object into obj and returns it. The test fails if the object does not exist.
func Get[T client.Object](t testing.TB, p *Planes, namespace, name string, obj T) T {
	t.Helper()
	if err := p.Client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// Exists reports whether an object of the namespace, name and kind of obj exists.
func Exists(t testing.TB, p *Planes, obj client.Object) bool {
	t.Helper()
	gvk, err := apiutil.GVKForObject(obj, p.Client.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(gvk)
	err = p.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), found)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

// Change updates an object as another client: f changes the stored object.
func Change[T client.Object](t testing.TB, p *Planes, obj T, f func(T)) T {
	t.Helper()
	Get(t, p, obj.GetNamespace(), obj.GetName(), obj)
	f(obj)
	if err := p.Client.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// ChangeStatus updates the status of an object as another client.
func ChangeStatus[T client.Object](t testing.TB, p *Planes, obj T, f func(T)) T {
	t.Helper()
	Get(t, p, obj.GetNamespace(), obj.GetName(), obj)
	f(obj)
	if err := p.Client.Status().Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// Delete deletes an object; an object with finalizers stays.
func Delete(t testing.TB, p *Planes, obj client.Object) {
	t.Helper()
	if err := p.Client.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// BackUp gives an object the metadata that a backup keeps: its owners were of the time before.
func BackUp(object client.Object) {
	object.SetUID("")
	object.SetResourceVersion("")
	object.SetGeneration(0)
	object.SetCreationTimestamp(metav1.Time{})
	object.SetManagedFields(nil)
	object.SetOwnerReferences(nil)
}
