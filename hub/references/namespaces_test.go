// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// elsewhere is another hub namespace with a deployment and the ConfigMap that it owns, with the same names as in
// f.HubNamespace.
type elsewhere struct {
	deployment *v1alpha.WorkloadDeployment
	data       *corev1.ConfigMap
}

func (f *fixture) elsewhere(t *testing.T, name string) elsewhere {
	t.Helper()
	created := f.NewHubNamespace()
	created.Labels[v1alpha.LabelProjectNamespaceUID] = string(uuid.NewUUID())
	created.Name = naming.HubNamespace(string(planes.ProjectUID), created.Labels[v1alpha.LabelProjectNamespaceUID])
	namespace := planes.Create(t, f.Planes, created).Name
	f.open(t, namespace)
	e := elsewhere{deployment: planes.Create(t, f.Planes, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{v1alpha.LabelDeploymentUID: string(uuid.NewUUID())},
		},
		Spec: *f.Deployment(name, "DFW").Spec.DeepCopy(),
	})}
	data := f.app()
	data.Namespace, data.OwnerReferences = namespace, []metav1.OwnerReference{e.deployment.OwnerReference()}
	data.Labels = map[string]string{v1alpha.LabelProject: naming.ProjectLabel(planes.ProjectName.String())}
	e.data = planes.Create(t, f.Planes, data)
	return e
}

// TestANamespaceThatWasMadeAgain: the deployments of a namespace of the project are in two hub namespaces, because a
// finalizer held one of them when the namespace was removed by force and recreated. A deployment in the earlier hub
// namespace that runs without its original keeps its data until it is gone, although the later one has a deployment of
// the same name.
func TestANamespaceThatWasMadeAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	earlier := f.elsewhere(t, "web")
	held := f.Deployment("held", "DFW")
	held.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: earlier.data.Namespace}
	planes.Create(t, f.Planes, held)
	planes.Create(t, f.Planes, f.app())
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	f.settled(t)
	if !planes.Exists(t, f.Planes, earlier.data) {
		t.Fatal("the data of a deployment that runs is deleted, because another has its name")
	}
	planes.Delete(t, f.Planes, earlier.deployment)
	f.mustReconcile(t)
	if planes.Exists(t, f.Planes, earlier.data) || !f.isOnHub(t, f.app()) {
		t.Error("exactly the data stays that a deployment in its own hub namespace needs")
	}
}

// TestProjectsWithTheSameNames: the hub namespace of another project has a deployment and data of the same names. They
// do not affect the objects of this project, and are not changed.
func TestProjectsWithTheSameNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	other := f.elsewhere(t, "web")
	planes.Create(t, f.Planes, f.app())
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	f.settled(t)
	planes.Delete(t, f.Planes, f.app())
	f.await(t, f.app())
	f.mustReconcile(t)
	if f.isOnHub(t, f.app()) {
		t.Error("the copy stays without its original, as if that of the other project were it")
	}
	if !planes.Exists(t, f.Planes, other.data) {
		t.Error("the data of the other project is deleted")
	}
	stored := planes.Get(t, f.Planes, other.data.Namespace, other.data.Name, &corev1.ConfigMap{})
	if stored.ResourceVersion != other.data.ResourceVersion {
		t.Error("the data of the other project is changed")
	}
}

// TestForgedHubNamespace: a consumer writes the name of another project's hub namespace into the annotation of a
// deployment. The data there is not changed, and the consumer's own data is not written there.
func TestForgedHubNamespace(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	victim := f.NewHubNamespace()
	victim.Name = "ns-" + string(uuid.NewUUID())
	victim.Labels[v1alpha.LabelProjectUID] = "south-uid"
	planes.Create(t, f.Planes, victim)
	theirs := f.app()
	theirs.Namespace, theirs.Labels = victim.Name, map[string]string{v1alpha.LabelProject: "cluster-south"}
	planes.Create(t, f.Planes, theirs)
	planes.Create(t, f.Planes, f.app())
	forged := f.Deployment("web", "DFW")
	forged.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: victim.Name}
	forged.Spec.Template = templateNaming([]string{"app"}, nil)
	planes.Create(t, f.Planes, forged)
	unnamed := f.Deployment("other", "DFW")
	unnamed.Annotations = forged.Annotations
	planes.Create(t, f.Planes, unnamed)
	f.mustReconcile(t)
	planes.Delete(t, f.Planes, forged)
	f.mustReconcile(t)
	if !planes.Exists(t, f.Planes, theirs) {
		t.Fatal("the data of the other project is deleted")
	}
	if got := planes.Get(t, f.Planes, victim.Name, "app", &corev1.ConfigMap{}); got.ResourceVersion != theirs.ResourceVersion {
		t.Error("the data of the other project is changed")
	}
}
