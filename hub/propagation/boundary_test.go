// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// victim is a namespace on the hub that is not the project's, with objects that have the same names as the project's.
type victim struct {
	objects  []client.Object
	versions []string
}

func (f *fixture) victim(t *testing.T, name string, labels map[string]string) *victim {
	t.Helper()
	v := &victim{objects: []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "credentials", Labels: labels}},
		policies.CityPolicy(name, policies.City{Code: f.city, Independent: true}),
	}}
	copied := f.Deployment("web", f.city)
	copied.Namespace, copied.Labels = name, labels
	v.objects = append(v.objects, copied)
	for _, obj := range v.objects {
		planes.Create(t, f.Planes, obj)
	}
	v.note(t, f)
	return v
}

// note records the versions of the objects.
func (v *victim) note(t *testing.T, f *fixture) {
	t.Helper()
	v.versions = nil
	for _, obj := range v.objects {
		v.versions = append(v.versions, planes.Get(t, f.Planes, obj.GetNamespace(), obj.GetName(), obj).GetResourceVersion())
	}
}

// untouched fails if an object was changed or deleted, or if the namespace has another deployment.
func (v *victim) untouched(t *testing.T, f *fixture, when string) {
	t.Helper()
	for i, obj := range v.objects {
		if !planes.Exists(t, f.Planes, obj) {
			t.Fatalf("%s, %T %s is gone", when, obj, obj.GetName())
		}
		found := planes.Get(t, f.Planes, obj.GetNamespace(), obj.GetName(), obj)
		if found.GetResourceVersion() != v.versions[i] {
			t.Errorf("%s, %T %s was changed: labels %v, deleted %v", when, obj, obj.GetName(), found.GetLabels(), found.GetDeletionTimestamp())
		}
	}
	var all v1alpha.WorkloadDeploymentList
	if err := f.Client.List(t.Context(), &all, client.InNamespace(v.objects[0].GetName())); err != nil {
		t.Fatal(err)
	}
	if len(all.Items) != 1 {
		t.Errorf("%s, the namespace has %d deployments", when, len(all.Items))
	}
}

// TestForgedHubNamespace: a consumer writes the name of another namespace of the hub into the annotation of a
// deployment, and then deletes the Workload. Nothing is written or deleted there, and the deployment stays in its own
// hub namespace.
func TestForgedHubNamespace(t *testing.T) {
	t.Parallel()
	otherUID := uuid.NewUUID()
	tests := map[string]struct {
		name   string
		labels map[string]string
	}{
		"a namespace of an operator": {"victim-" + string(uuid.NewUUID()), nil},
		"a hub namespace of another project": {naming.HubNamespace("south-uid", string(otherUID)), map[string]string{
			v1alpha.LabelProject: "cluster-south", v1alpha.LabelProjectNamespace: "default", v1alpha.LabelProjectUID: "south-uid",
		}},
		"one that has the labels of the project": {"labelled-" + string(uuid.NewUUID()), map[string]string{
			v1alpha.LabelProject: naming.ProjectLabel(string(planes.ProjectName)), v1alpha.LabelProjectUID: string(planes.ProjectUID),
		}},
	}
	for name, test := range tests {
		for _, propagated := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				labels := maps.Clone(test.labels)
				if labels[v1alpha.LabelProjectUID] == string(planes.ProjectUID) {
					labels[v1alpha.LabelProjectNamespace] = f.Namespace.Name
				}
				if propagated {
					f.mustReconcile(t, "web")
				}
				hubNamespace := test.name
				if !propagated {
					hubNamespace += "-2"
				}
				v := f.victim(t, hubNamespace, labels)
				forge := func() {
					planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
						metav1.SetMetaDataAnnotation(&d.ObjectMeta, v1alpha.AnnotationHubNamespace, hubNamespace)
					})
				}
				forge()
				f.mustReconcile(t, "web")
				f.mustReconcile(t, "web")
				v.untouched(t, f, "after the annotation was forged")
				if got := f.readOriginal(t).Annotations[v1alpha.AnnotationHubNamespace]; got != f.HubNamespace {
					t.Errorf("the annotation names %s", got)
				}
				if !planes.Exists(t, f.Planes, f.copied()) {
					t.Error("the deployment has left its hub namespace")
				}
				forge()
				planes.Delete(t, f.Planes, f.original)
				f.Project.Calls()
				f.mustReconcile(t, "web")
				f.mustReconcile(t, "web")
				v.untouched(t, f, "after the deletion")
				if planes.Exists(t, f.Planes, f.original) || planes.Exists(t, f.Planes, f.copied()) ||
					read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
					t.Error("the deployment, its copy or its hub namespace stays")
				}
			})
		}
	}
}

// earlierNamespace is a project whose namespaces have the UID from before they were recreated.
type earlierNamespace struct{ client.Reader }

func (earlierNamespace) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	obj.SetUID("of-the-earlier-namespace")
	return nil
}

// TestARecreatedNamespace: a deployment was created with the UID of the earlier namespace, because that was read
// last. Its copy is written into the hub namespace of its own namespace, and nothing into the earlier one.
func TestARecreatedNamespace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconciler.Namespaces = projects.NewNamespaces()
	from := projects.Origin{Project: planes.ProjectName.String(), ProjectUID: planes.ProjectUID, Namespace: f.Namespace.Name}
	earlier, err := f.reconciler.Namespaces.Read(t.Context(), from, earlierNamespace{})
	if err != nil {
		t.Fatal(err)
	}
	labels := maps.Clone(f.NewHubNamespace().Labels)
	labels[v1alpha.LabelProjectNamespaceUID] = string(earlier)
	v := f.victim(t, from.HubNamespace(earlier), labels)
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, v1alpha.AnnotationHubNamespace, from.HubNamespace(earlier))
	})
	f.mustReconcile(t, "web")
	v.untouched(t, f, "after the namespace was recreated")
	if got := f.readOriginal(t).Annotations[v1alpha.AnnotationHubNamespace]; got != f.HubNamespace || !planes.Exists(t, f.Planes, f.copied()) {
		t.Errorf("the annotation names %s", got)
	}
	if next, err := f.reconciler.Namespaces.Guess(t.Context(), from, earlierNamespace{}); next != f.Namespace.UID || err != nil {
		t.Errorf("the next deployment is created with the UID %s, %v", next, err)
	}
}

// TestAForeignNamespaceOfTheName: a namespace with the name of the hub namespace that the add-on has not created is not
// adopted, and not deleted with the deployment.
func TestAForeignNamespaceOfTheName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	v := f.victim(t, f.HubNamespace, nil)
	f.mustLookAgain(t, "web")
	v.untouched(t, f, "after the deployment was created")
	planes.Delete(t, f.Planes, f.readOriginal(t))
	f.mustReconcile(t, "web")
	v.untouched(t, f, "after the deployment was deleted")
	if planes.Exists(t, f.Planes, f.original) {
		t.Error("the deployment waits for a namespace that is not its own")
	}
}

// TestAnEarlierProject: an earlier project of the name, with the same namespace, has left a hub namespace. The later
// one gets its own hub namespace.
func TestAnEarlierProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	v := f.victim(t, naming.HubNamespace("earlier", string(f.Namespace.UID)), map[string]string{
		v1alpha.LabelProject: naming.ProjectLabel(string(planes.ProjectName)), v1alpha.LabelProjectNamespace: f.Namespace.Name,
		v1alpha.LabelProjectUID: "earlier",
	})
	f.mustReconcile(t, "web")
	v.untouched(t, f, "after the deployment of the later project was created")
	if !planes.Exists(t, f.Planes, f.copied()) {
		t.Error("the later project's copy is not in its own hub namespace")
	}
	planes.Delete(t, f.Planes, f.readOriginal(t))
	f.mustReconcile(t, "web")
	f.mustReconcile(t, "web")
	v.untouched(t, f, "after the deployment of the later project was deleted")
}
