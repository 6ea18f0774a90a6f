// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// skipPropagation keeps Karmada from copying a namespace of the hub into the cells.
const skipPropagation = "namespace.karmada.io/skip-auto-propagation"

// bystander is a namespace that belongs to no project, on the hub and in cells, with a name that only the run knows.
func (h *Hostile) bystander() string { return "bystander-" + string(h.Party) + "-" + h.Namespace }

// hostileUser has all rights in the project of the hostile consumer, and no others.
func (h *Hostile) hostileUser() string { return "hostile-" + h.Namespace }

// arrange creates the objects that must not change, the Workloads that run before the noise, and the rights of the
// hostile party.
func (h *Hostile) arrange(ctx context.Context) error {
	h.Projects = []string{h.Project, h.Victim}
	h.peaks = map[string]Usage{}
	if err := h.connect(ctx); err != nil {
		return err
	}
	h.planes = []string{hubPlane, "project/" + h.Project, "project/" + h.Victim}
	// Another scenario may add a cell at any time.
	for _, plane := range slices.Sorted(maps.Keys(h.collector.planes)) {
		if strings.HasPrefix(plane, "cell/") {
			h.planes = append(h.planes, plane)
		}
	}
	foreign, err := h.foreign(ctx)
	if err != nil {
		return err
	}
	if h.Quota {
		if err := h.meter(ctx, h.Victim); err != nil {
			return err
		}
	}
	for _, plane := range h.planes {
		if err := h.addBystanders(ctx, plane); err != nil {
			return fmt.Errorf("%s: %w", plane, err)
		}
	}
	for _, project := range h.Projects {
		if err := h.addWorkload(ctx, project); err != nil {
			return err
		}
	}
	switch {
	case h.Party == PartyCell:
		return h.arrangeCell(ctx, foreign)
	case h.Party.ownsProject():
		return h.arrangeConsumer(ctx, foreign)
	}
	return h.arrangeOnHub(ctx, foreign)
}

// foreign reads the names and UIDs of other parties' objects.
func (h *Hostile) foreign(ctx context.Context) (d dice, err error) {
	d.namespaces = append([]string{h.bystander(), h.bystander(), "nowhere-" + h.Namespace}, systemNamespaces...)
	d.foreign = []string{"00000000-0000-0000-0000-000000000000"}
	for _, project := range h.Projects {
		place, err := h.Place(ctx, project, h.namespaceIn(project))
		if err != nil {
			return d, err
		}
		if project == h.Project {
			h.projectUID = place.ProjectUID
			continue
		}
		d.foreign = append(d.foreign, place.ProjectUID, place.NamespaceUID)
		d.namespaces = append(d.namespaces, place.HubNamespace, place.HubNamespace)
	}
	return d, nil
}

// addBystanders adds data to the namespaces of the projects; on other planes it adds a namespace that belongs to no
// project.
func (h *Hostile) addBystanders(ctx context.Context, plane string) error {
	project, isProject := strings.CutPrefix(plane, "project/")
	namespace := h.namespaceIn(project)
	objects := []client.Object{}
	if !isProject {
		namespace = h.bystander()
		objects = append(objects, &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{skipPropagation: "true"}},
		})
	}
	objects = append(objects,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}, Data: map[string]string{"COLOUR": "blue"}},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "password"}, StringData: map[string]string{"PASSWORD": namespace},
		},
	)
	for _, object := range objects {
		if err := h.collector.planes[plane].Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return err
		}
	}
	return nil
}

// addWorkload creates a Workload that uses the data of its project, in all cities.
func (h *Hostile) addWorkload(ctx context.Context, project string) error {
	name := "victim"
	if project == h.Project {
		name = h.hostileNames()[0]
	}
	wanted := &Wanted{Image: "docker.io/library/nginx:1", Placements: []Placement{{Name: "p0", Cities: h.Cities, Replicas: 2}}}
	workload := wanted.Workload(h.namespaceIn(project), name)
	workload.Spec.Template.Spec.Runtime.Sandbox.Containers[0].EnvFrom = []corev1.EnvFromSource{
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}},
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "password"}}},
	}
	h.want(Name{project, name}, wanted)
	return h.consumer.projects[project].Create(ctx, workload)
}

func (h *Hostile) arrangeConsumer(ctx context.Context, foreign dice) error {
	plane := "project/" + h.Project
	if h.Party == PartyRole && !h.collector.withoutMilo {
		return errors.New("the role for consumers exists without Milo: run without it")
	}
	if err := h.collector.planes[plane].Create(ctx, h.everyRight()); err != nil {
		return err
	}
	h.party = h.Client(plane, h.hostileUser())
	h.source = func(worker uint64) func() Write {
		d := foreign
		d.Rand = newRandom(h.Seed, 10+worker)
		return (&consumerNoise{
			dice: &d, namespace: h.namespaceIn(h.Project), names: h.hostileNames(), cities: h.Cities, noLocations: h.collector.withoutMilo,
		}).next
	}
	return nil
}

// everyRight returns the binding of the hostile consumer in its project: all rights, or the role for consumers.
func (h *Hostile) everyRight() client.Object {
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}
	if h.Party == PartyRole {
		role.Name = consumerRole
	}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: h.hostileUser()}}
	if h.collector.withoutMilo {
		return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: h.Project, Name: h.hostileUser()}, RoleRef: role, Subjects: subjects}
	}
	return &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: h.hostileUser()}, RoleRef: role, Subjects: subjects}
}

func (h *Hostile) arrangeCell(ctx context.Context, foreign dice) error {
	var cells v1alpha.CellList
	h.party = h.Client("cell/"+h.Cell, federation.Admin)
	// The hub sends the deployment when the cell has joined.
	if err := wait.PollUntilContextTimeout(ctx, time.Second, h.Patience, true, func(ctx context.Context) (bool, error) {
		err := h.party.List(ctx, &cells)
		return len(cells.Items) > 0, err
	}); err != nil {
		return fmt.Errorf("wait for the Cell of cell %s: %w", h.Cell, err)
	}
	h.source = func(worker uint64) func() Write {
		d := foreign
		d.Rand = newRandom(h.Seed, 10+worker)
		return (&cellNoise{dice: &d, cell: cells.Items[0].Name, sent: h.sent()}).next
	}
	return nil
}

// sent returns the deployments that the hostile cell was sent.
func (h *Hostile) sent() []types.NamespacedName {
	var sent []types.NamespacedName
	for _, cell := range h.Federation.Cells() {
		for project, workload := range map[string]string{h.Victim: "victim", h.Project: h.hostileNames()[0]} {
			if cell.Name == h.Cell {
				sent = append(sent, types.NamespacedName{
					Namespace: h.collector.hubNamespaces[project], Name: naming.DeploymentName(workload, "p0", cell.City),
				})
			}
		}
	}
	slices.SortFunc(sent, func(a, b types.NamespacedName) int { return cmp.Compare(a.Name, b.Name) })
	return sent
}

// withdraw ends the noise: the party deletes the objects that only it can delete, and repairs its own part.
func (h *Hostile) withdraw(ctx context.Context) error {
	switch {
	case h.Party == PartyCell:
		return h.deleteMadeUp(ctx)
	case !h.Party.ownsProject():
		return h.withdrawFromHub(ctx)
	}
	for _, name := range h.hostileNames() {
		h.want(Name{h.Project, name}, nil)
	}
	deadline := h.Clock.Now().Add(h.Patience)
	for h.Clock.Now().Before(deadline) {
		left, err := h.releaseAll(ctx)
		if err != nil {
			return err
		}
		if left == 0 || !sleepUntil(ctx, h.Clock, h.Clock.Now().Add(checkInterval)) {
			break
		}
	}
	return nil // what is left is found by the comparison
}

// releaseAll deletes the objects of the hostile project that its party may delete, and returns their number.
func (h *Hostile) releaseAll(ctx context.Context) (left int, err error) {
	kinds := []schema.GroupVersionKind{workloadKind, deploymentKind, instanceKind, sliceKind, configMapKind, secretKind}
	if h.Party == PartyRole {
		kinds = []schema.GroupVersionKind{workloadKind, configMapKind, secretKind}
	}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := h.party.List(ctx, list, client.InNamespace(h.namespaceIn(h.Project))); err != nil {
			return 0, err
		}
		for i := range list.Items {
			if list.Items[i].GetName() == "kube-root-ca.crt" {
				continue
			}
			left++
			if err := h.release(ctx, &list.Items[i]); err != nil {
				h.printf("%v", err)
			}
		}
	}
	return left, nil
}

// release deletes an object of the hostile project, and removes the finalizers that its party has added.
func (h *Hostile) release(ctx context.Context, object *unstructured.Unstructured) error {
	c := h.party
	if object.GetDeletionTimestamp() == nil && object.GetKind() != v1alpha.KindWorkloadDeployment {
		if err := client.IgnoreNotFound(c.Delete(ctx, object)); err != nil {
			return err
		}
	}
	// The garbage collector removes its own finalizers, and the add-on its own, one for each kind.
	own := map[string]string{
		"Workload": v1alpha.FinalizerWorkload, v1alpha.KindWorkloadDeployment: v1alpha.FinalizerPropagation,
	}[object.GetKind()]
	released := object.DeepCopy()
	released.SetFinalizers(slices.DeleteFunc(released.GetFinalizers(), func(f string) bool { return strings.Contains(f, "/") && f != own }))
	if len(released.GetFinalizers()) == len(object.GetFinalizers()) {
		return nil
	}
	return client.IgnoreNotFound(c.Patch(ctx, released, client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})))
}

// deleteMadeUp deletes deployments that the cell was never sent: only its administrator knows them.
func (h *Hostile) deleteMadeUp(ctx context.Context) error {
	c := h.party
	for _, kind := range []schema.GroupVersionKind{deploymentKind, instanceKind, podKind} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := c.List(ctx, list); err != nil {
			return err
		}
		for i := range list.Items {
			if !strings.HasPrefix(list.Items[i].GetName(), madeUpName) {
				continue
			}
			if err := c.Delete(ctx, &list.Items[i]); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// Remove deletes the Workloads, the rights of the party and the bystander, and waits until all planes are empty.
func (h *Hostile) Remove(ctx context.Context) error {
	if h.consumer == nil {
		return nil // the run has created nothing
	}
	errs := []error{h.Soak.Remove(ctx)}
	if h.Party.ownsProject() {
		// Another party may own the project after this one.
		errs = append(errs, client.IgnoreNotFound(h.collector.planes["project/"+h.Project].Delete(ctx, h.everyRight())))
	}
	for _, plane := range h.planes {
		if c := h.collector.planes[plane]; !strings.HasPrefix(plane, "project/") {
			errs = append(errs, client.IgnoreNotFound(c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.bystander()}})))
		}
	}
	return errors.Join(errs...)
}
