// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inventoryName is the ConfigMap on the host that lists the objects that enable created.
const inventoryName = "karmada-compute-addon"

// Keys of the inventory, one for each plane.
const (
	onHost = "host"
	onHub  = "hub"
	atMilo = "milo"
)

// reference names an object.
type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// entry is an object in the inventory.
type entry struct {
	reference
	// Adopted reports that the object existed before the addon was enabled, so disable leaves it.
	Adopted bool `json:"adopted,omitempty"`
}

func referenceOf(object *unstructured.Unstructured) reference {
	return reference{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}
}

func (r reference) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(r.APIVersion)
	object.SetKind(r.Kind)
	object.SetNamespace(r.Namespace)
	object.SetName(r.Name)
	return object
}

// isCRD reports whether the object is a CRD, whose deletion would delete its objects.
func (r reference) isCRD() bool { return r.Kind == "CustomResourceDefinition" }

// inventory lists the objects that enable created, by plane, in the order of creation.
type inventory map[string][]entry

// lists reports whether an object of a plane is listed.
func (i inventory) lists(plane string, r reference) bool {
	return slices.ContainsFunc(i[plane], func(e entry) bool { return e.reference == r })
}

// isWithoutMilo reports whether the projects of the installation are namespaces of the hub. Only then the role is
// rendered. The list of objects at Milo is no proof, since an installation whose Workloads were kept lists the hub
// only.
func (i inventory) isWithoutMilo() bool {
	return i.lists(onHub, reference{"rbac.authorization.k8s.io/v1", "ClusterRole", "", "karmada-compute-namespaces"})
}

// add adds an object once.
func (i inventory) add(plane string, e entry) {
	if !i.lists(plane, e.reference) {
		i[plane] = append(i[plane], e)
	}
}

// readInventory returns nil if no inventory is stored.
func readInventory(ctx context.Context, host *plane, namespace string) (inventory, error) {
	stored := &corev1.ConfigMap{}
	err := host.Get(ctx, client.ObjectKey{Namespace: namespace, Name: inventoryName}, stored)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s at the host: %w", namespace, inventoryName, err)
	}
	known := inventory{}
	for plane, list := range stored.Data {
		var entries []entry
		if err := json.Unmarshal([]byte(list), &entries); err != nil {
			return nil, fmt.Errorf("ConfigMap %s/%s at the host lists no objects under %q; restore it, or delete it and enable again: %w",
				namespace, inventoryName, plane, err)
		}
		known[plane] = entries
	}
	return known, nil
}

// write stores the inventory.
func (i inventory) write(ctx context.Context, host *plane, namespace string) error {
	stored := reference{"v1", "ConfigMap", namespace, inventoryName}.object()
	stored.SetLabels(map[string]string{"app.kubernetes.io/name": Name, "app.kubernetes.io/managed-by": "karmadactl"})
	data := map[string]any{}
	for plane, entries := range i {
		list, err := json.Marshal(entries)
		if err != nil {
			return err
		}
		data[plane] = string(list)
	}
	stored.Object["data"] = data
	return host.apply(ctx, stored)
}

// removeInventory deletes it.
func removeInventory(ctx context.Context, host *plane, namespace string) error {
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: inventoryName}}
	if err := client.IgnoreNotFound(host.Delete(ctx, stored)); err != nil {
		return fmt.Errorf("delete ConfigMap %s/%s at the host: %w", namespace, inventoryName, err)
	}
	return nil
}
