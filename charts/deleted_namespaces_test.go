// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const projectDeletions = "karmada-compute-projects"

// TestDeletedNamespaces: a hub namespace, and a namespace that is a project with Workloads, is deleted by the add-on and
// Kubernetes, or with a reason. The owner of an empty project deletes it as any namespace.
func TestDeletedNamespaces(t *testing.T) {
	const hubSpace, emptied = "ns-00000000-0000-4000-8000-00000000d012", "ns-00000000-0000-4000-8000-00000000d013"
	admin := newClient(t)
	removeGuards(t, admin)
	for _, name := range []string{"running-project", "empty-project", "emptied-project"} {
		project := namespace(name)
		project.Labels = map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceProject}
		ensure(t, admin, project)
	}
	ensure(t, admin, hubSpaceOf(t, admin, hubSpace, "running-project"))
	// Its hub namespace is being deleted, as with the last Workload.
	ensure(t, admin, hubSpaceOf(t, admin, emptied, "emptied-project"))
	if err := admin.Delete(t.Context(), namespace(emptied)); err != nil {
		t.Fatal(err)
	}
	protectDeletions(t, admin)
	clerk := client.NewDryRunClient(as(t, "a-clerk"))
	for name, want := range map[string]string{
		hubSpace: "all Instances of the project", "running-project": "kubectl -n running-project delete workloads --all",
	} {
		err := remove(namespace(name))(t.Context(), clerk)
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), breakGlass) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"empty-project", "emptied-project"} {
		if err := remove(namespace(name))(t.Context(), clerk); err != nil {
			t.Errorf("the owner of %s: %v", name, err)
		}
	}
	for _, name := range []string{hubSpace, "running-project"} {
		for _, user := range []string{hubAddOn, "system:serviceaccount:kube-system:namespace-controller"} {
			if err := remove(namespace(name))(t.Context(), client.NewDryRunClient(as(t, user))); err != nil {
				t.Errorf("%s may not delete %s: %v", user, name, err)
			}
		}
		for reason, isEnough := range map[string]bool{" ": false, "the project is closed": true} {
			if err := patch(namespace(name), `{"metadata":{"annotations":{"`+breakGlass+`":"`+reason+`"}}}`)(t.Context(), admin); err != nil {
				t.Fatal(err)
			}
			if err := remove(namespace(name))(t.Context(), clerk); (err == nil) != isEnough {
				t.Errorf("%s with reason %q: %v", name, reason, err)
			}
		}
	}
}

// hubSpaceOf is the hub namespace of a project that is a namespace, as hub/propagation creates it.
func hubSpaceOf(t *testing.T, c client.Client, name, project string) *corev1.Namespace {
	t.Helper()
	owner := &corev1.Namespace{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: project}, owner); err != nil {
		t.Fatal(err)
	}
	return labelled(namespace(name), map[string]string{v1alpha.LabelProjectUID: string(owner.UID)})
}

// TestProjectsOfMiloNeedNoPolicy: with Milo no namespace of the hub is a project.
func TestProjectsOfMiloNeedNoPolicy(t *testing.T) {
	for _, object := range render(t, parts["hub"]) {
		if object.GetName() == projectDeletions {
			t.Error(id(object))
		}
	}
}

// protectDeletions installs the policies for deletions until the test ends.
func protectDeletions(t *testing.T, admin client.Client) {
	t.Helper()
	objects := render(t, parts["hub"], set{"projects.mode": "namespaces"})
	for _, name := range []string{"karmada-compute-deletions", projectDeletions} {
		policy := find(objects, "ValidatingAdmissionPolicy/"+name).DeepCopy()
		// A failing expression would admit the request, which would hide a fault of the expression.
		setField(t, policy, "Fail", "spec", "failurePolicy")
		for _, object := range []client.Object{policy, find(objects, "ValidatingAdmissionPolicyBinding/"+name).DeepCopy()} {
			t.Cleanup(func() { unregister(t, admin, object) })
			ensure(t, admin, object)
		}
	}
	awaitInForce(t, admin)
}
