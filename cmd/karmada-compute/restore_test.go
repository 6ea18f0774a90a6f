// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	testplanes "github.com/karmada-compute/karmada-compute/testenv/planes"
)

// restores backs a project up, and restores it into other projects in random orders, as a program such as Velero does:
// without UIDs, owners and status. Each ends with one Workload that runs, and the project that was backed up is as
// before.
func (h *withoutMilo) restores() {
	h.Helper()
	project := h.namespace("backed-up", "true")
	settings := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: project.Name, Name: "settings"}, Data: map[string]string{"mode": "a"},
	}
	web := h.workload(project.Name, h.city)
	web.Spec.Template.Spec.Runtime.Sandbox.Containers[0].EnvFrom = []corev1.EnvFromSource{
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: settings.Name}}},
	}
	for _, object := range []client.Object{settings, web} {
		if err := h.as("alice").Create(h.Context(), object); err != nil {
			h.Fatal(err)
		}
	}
	before := h.runs(project)
	saved := h.backup(project)
	for seed := range uint64(4) {
		restored := h.namespace(fmt.Sprintf("restored-%d", seed), "true")
		h.restore(seed, restored, saved)
		if uid := h.runs(restored); uid == before {
			h.Errorf("seed %d: the restored Workload has the copy of the project that was backed up", seed)
		}
	}
	if after := h.runs(project); after != before {
		h.Errorf("the restore has replaced the copy of the project that was backed up")
	}
}

// backup returns the objects of a project, in a form that any project can get. No cell runs here, so it adds the
// Instance that a cell would report.
func (h *withoutMilo) backup(project *corev1.Namespace) []client.Object {
	h.Helper()
	var settings corev1.ConfigMapList
	var workloads v1alpha.WorkloadList
	var deployments v1alpha.WorkloadDeploymentList
	var revisions v1alpha.WorkloadRevisionList
	for _, list := range []client.ObjectList{&settings, &workloads, &deployments, &revisions} {
		if err := h.admin.List(h.Context(), list, client.InNamespace(project.Name)); err != nil {
			h.Fatal(err)
		}
	}
	if len(settings.Items) != 1 || len(workloads.Items) != 1 || len(deployments.Items) != 1 || len(revisions.Items) != 1 {
		h.Fatalf("the project has %d ConfigMaps, %d Workloads, %d deployments and %d revisions",
			len(settings.Items), len(workloads.Items), len(deployments.Items), len(revisions.Items))
	}
	workloads.Items[0].Status, deployments.Items[0].Status = v1alpha.WorkloadStatus{}, v1alpha.WorkloadDeploymentStatus{}
	deployment := &deployments.Items[0]
	instance := &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: naming.InstanceName(deployment.Name, 0), Labels: map[string]string{
			v1alpha.LabelDeploymentName: deployment.Name, v1alpha.LabelDeploymentUID: string(deployment.UID),
		}},
		Spec: *deployment.Spec.Template.Spec.DeepCopy(),
	}
	saved := []client.Object{&settings.Items[0], &workloads.Items[0], deployment, &revisions.Items[0], instance}
	for _, object := range saved {
		testplanes.BackUp(object)
	}
	return saved
}

// restore creates the objects in a random order. Admission refuses the add-on's own ones with the object to restore
// instead. With an odd seed they pass, as while the add-on's admission was not registered.
func (h *withoutMilo) restore(seed uint64, project *corev1.Namespace, saved []client.Object) {
	h.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	for _, i := range random.Perm(len(saved)) {
		object, user, owned := saved[i].DeepCopyObject().(client.Object), "carol", false
		switch object.(type) {
		case *v1alpha.WorkloadDeployment, *v1alpha.WorkloadRevision, *v1alpha.Instance:
			owned = true
		}
		if owned && seed%2 == 1 {
			user, owned = "controllers", false
		}
		object.SetNamespace(project.Name)
		err := h.as(user).Create(h.Context(), object)
		switch {
		case owned && (err == nil || !strings.Contains(err.Error(), "is created and kept by karmada-compute")):
			h.Errorf("seed %d: %T: %v", seed, object, err)
		case !owned && client.IgnoreAlreadyExists(err) != nil:
			h.Errorf("seed %d: %T: %v", seed, object, err)
		}
	}
}

// runs waits until Workload web of a project has one deployment of its own with its copy and data on the hub, and
// nothing of another Workload. It returns the UID of the copy.
func (h *withoutMilo) runs(project *corev1.Namespace) types.UID {
	h.Helper()
	copied, hub := &v1alpha.WorkloadDeployment{}, naming.HubNamespace(string(project.UID), string(project.UID))
	eventually(h.T, func() error {
		workload := &v1alpha.Workload{}
		if err := h.admin.Get(h.Context(), client.ObjectKey{Namespace: project.Name, Name: "web"}, workload); err != nil {
			return err
		}
		var deployments v1alpha.WorkloadDeploymentList
		var instances v1alpha.InstanceList
		var revisions v1alpha.WorkloadRevisionList
		for _, list := range []client.ObjectList{&deployments, &instances, &revisions} {
			if err := h.admin.List(h.Context(), list, client.InNamespace(project.Name)); err != nil {
				return err
			}
		}
		if len(deployments.Items) != 1 || !metav1.IsControlledBy(&deployments.Items[0], workload) || len(instances.Items) > 0 ||
			len(revisions.Items) != 1 || !metav1.IsControlledBy(&revisions.Items[0], workload) {
			return fmt.Errorf("project %s has deployments %+v, Instances %+v and revisions %+v", project.Name,
				deployments.Items, instances.Items, revisions.Items)
		}
		if err := h.admin.Get(h.Context(), client.ObjectKey{Namespace: hub, Name: deployments.Items[0].Name}, copied); err != nil {
			return errors.Join(err, h.endNamespace(hub))
		}
		if copied.Labels[v1alpha.LabelDeploymentUID] != string(deployments.Items[0].UID) {
			return errors.New("the copy on the hub is of another deployment")
		}
		return h.admin.Get(h.Context(), client.ObjectKey{Namespace: hub, Name: "settings"}, &corev1.ConfigMap{})
	})
	return copied.UID
}

// endNamespace ends a hub namespace that is being deleted, and the Works that carry it, as Kubernetes' namespace
// controller and Karmada would, which do not run here. A restored deployment that has a copy before its Workload exists
// is withdrawn with its hub namespace.
func (h *withoutMilo) endNamespace(name string) error {
	var works workv1alpha1.WorkList
	if err := h.admin.List(h.Context(), &works, client.MatchingLabels{v1alpha.LabelHubNamespace: name}); err != nil {
		return err
	}
	for i := range works.Items {
		if work := &works.Items[i]; !work.DeletionTimestamp.IsZero() {
			work.Finalizers = nil
			if err := h.admin.Update(h.Context(), work); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	namespace := &corev1.Namespace{}
	if err := h.admin.Get(h.Context(), client.ObjectKey{Name: name}, namespace); err != nil || namespace.DeletionTimestamp.IsZero() {
		return client.IgnoreNotFound(err)
	}
	namespace.Spec.Finalizers = nil
	return h.admin.SubResource("finalize").Update(h.Context(), namespace)
}
