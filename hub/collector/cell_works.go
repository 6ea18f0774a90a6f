// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"encoding/json"
	"fmt"
	"maps"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

const kindNamespace = "Namespace"

// cellWork carries the Cell to a cell.
func cellWork(cell string, spec v1alpha.CellSpec) (*workv1alpha1.Work, error) {
	manifest := map[string]any{
		"apiVersion": v1alpha.GroupVersion.String(), "kind": v1alpha.KindCell,
		"metadata": manifestMetadata(cell, client.ObjectKey{Name: wire.CellName(spec.HubUID)}, v1alpha.KindCell),
		"spec":     spec,
	}
	return newWork(cell, cells.WorkName(spec.HubUID), manifest, map[string]string{v1alpha.LabelInventory: v1alpha.InventoryCell})
}

// removalWork returns the Work for the removal of a deployment or a hub namespace that is in a cell without a Work.
// Karmada does not apply it, since its dispatching is suspended; when it is deleted, Karmada deletes the object in the
// cell.
func removalWork(cell string, entry *v1alpha.InventoryEntry) (*workv1alpha1.Work, error) {
	object := entry.Key()
	manifest := map[string]any{
		"apiVersion": v1alpha.GroupVersion.String(), "kind": v1alpha.KindWorkloadDeployment,
		"metadata": manifestMetadata(cell, object, v1alpha.KindWorkloadDeployment),
	}
	if entry.IsNamespace() {
		manifest = namespaceManifest(cell, object.Namespace)
	}
	work, err := newWork(cell, workName(object), manifest, map[string]string{
		v1alpha.LabelInventory: v1alpha.InventoryRemoval, v1alpha.LabelHubNamespace: object.Namespace,
	})
	if err != nil {
		return nil, err
	}
	work.Spec.SuspendDispatching = new(true)
	if entry.IsNamespace() {
		// With these labels hub/propagation sees the deletion of the Work, if the project needs the namespace again
		// meanwhile.
		origin := projects.Origin{Project: entry.Project, ProjectUID: entry.ProjectUID, Namespace: entry.ProjectNamespace}
		maps.Copy(work.Labels, origin.Labels())
		work.Annotations = origin.Annotations()
	}
	return work, nil
}

// namespaceManifest returns the manifest of a hub namespace in a cell, with the label without which the hub's policy
// refuses a Work.
func namespaceManifest(cell, name string) map[string]any {
	metadata := manifestMetadata(cell, types.NamespacedName{Name: name}, kindNamespace)
	metadata["labels"] = map[string]string{cells.LabelManagedByKarmada: "true", projects.LabelPodSecurity: projects.PodSecurity}
	return map[string]any{"apiVersion": "v1", "kind": kindNamespace, "metadata": metadata}
}

// isRemoval reports whether a Work still is the one that removalWork returned. Karmada takes over the Work if the
// deployment is recreated meanwhile, and hub/propagation if the namespace is.
func isRemoval(work *workv1alpha1.Work) bool {
	return work.Labels[v1alpha.LabelInventory] == v1alpha.InventoryRemoval && work.Spec.SuspendDispatching != nil &&
		*work.Spec.SuspendDispatching && work.Annotations[workv1alpha2.ResourceBindingNameAnnotationKey] == ""
}

func newWork(cell, name string, manifest map[string]any, labels map[string]string) (*workv1alpha1.Work, error) {
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("encode the manifest for cell %s: %w", cell, err)
	}
	return &workv1alpha1.Work{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: karmadanames.GenerateExecutionSpaceName(cell), Labels: labels, Finalizers: []string{cells.ExecutionFinalizer},
		},
		Spec: workv1alpha1.WorkSpec{Workload: workv1alpha1.WorkloadTemplate{
			Manifests: []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}},
		}},
	}, nil
}

func manifestMetadata(cell string, object types.NamespacedName, kind string) map[string]any {
	metadata := map[string]any{
		"name":   object.Name,
		"labels": map[string]string{cells.LabelManagedByKarmada: "true"},
		"annotations": map[string]string{
			workv1alpha2.WorkNamespaceAnnotation: karmadanames.GenerateExecutionSpaceName(cell),
			workv1alpha2.WorkNameAnnotation:      karmadanames.GenerateWorkName(kind, object.Name, object.Namespace),
		},
	}
	if object.Namespace != "" {
		metadata["namespace"] = object.Namespace
	}
	return metadata
}

// workName returns the name that Karmada gives the Work of a deployment or, for a NamespaceKey, of a hub namespace.
func workName(object types.NamespacedName) string {
	if isNamespace(object) {
		return karmadanames.GenerateWorkName(kindNamespace, object.Namespace, "")
	}
	return karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, object.Name, object.Namespace)
}

// isNamespace reports whether the key of an inventory belongs to a hub namespace.
func isNamespace(object types.NamespacedName) bool {
	return object == wire.NamespaceKey(object.Namespace)
}

func describe(object types.NamespacedName) string {
	if isNamespace(object) {
		return "hub namespace " + object.Namespace
	}
	return "WorkloadDeployment " + object.String()
}

// carries reports whether a Work carries a Cell with this spec.
func carries(work *workv1alpha1.Work, spec *v1alpha.CellSpec) bool {
	carried := carriedSpec(work)
	return carried != nil && equality.Semantic.DeepEqual(carried, spec)
}

// carriedSpec is the spec of the Cell that a Work carries; nil: it carries none.
func carriedSpec(work *workv1alpha1.Work) *v1alpha.CellSpec {
	if len(work.Spec.Workload.Manifests) != 1 {
		return nil
	}
	stored := &v1alpha.Cell{}
	if err := json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, stored); err != nil {
		return nil
	}
	return &stored.Spec
}
