// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// hubNamespaceForm is the form of the names of hub namespaces.
var hubNamespaceForm = regexp.MustCompile(`^ns-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// ForeignKinds are the kinds by which others use Karmada in a namespace. It is never written to.
var ForeignKinds = []schema.GroupVersionKind{
	{Group: "policy.karmada.io", Version: "v1alpha1", Kind: "PropagationPolicy"},
	{Group: "policy.karmada.io", Version: "v1alpha1", Kind: "OverridePolicy"},
	{Group: "work.karmada.io", Version: "v1alpha2", Kind: "ResourceBinding"},
	{Group: "work.karmada.io", Version: "v1alpha1", Kind: "Work"},
}

// ForeignObjects returns the objects of Karmada in projects and hub namespaces that are not the add-on's, each with its
// kind, namespace and name. They bring what they select into cells, with the rights of Karmada. Override policies of an
// operator in hub namespaces are no fault.
func ForeignObjects(ctx context.Context, hub client.Reader) ([]string, error) {
	var namespaces corev1.NamespaceList
	if err := hub.List(ctx, &namespaces, client.HasLabels{v1alpha.LabelNamespaceProject}); err != nil {
		return nil, fmt.Errorf("list the projects of the hub: %w", err)
	}
	projects := map[string]bool{}
	for i := range namespaces.Items {
		projects[namespaces.Items[i].Name] = true
	}
	var foreign []string
	for _, kind := range ForeignKinds {
		objects := &metav1.PartialObjectMetadataList{}
		objects.SetGroupVersionKind(kind)
		if err := hub.List(ctx, objects); err != nil {
			if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
				continue
			}
			return nil, fmt.Errorf("list the hub's objects of kind %s: %w", kind.Kind, err)
		}
		for i := range objects.Items {
			if object := &objects.Items[i]; isForeign(kind.Kind, object, projects) {
				foreign = append(foreign, fmt.Sprintf("%s %s/%s", kind.Kind, object.Namespace, object.Name))
			}
		}
	}
	return foreign, nil
}

func isForeign(kind string, object *metav1.PartialObjectMetadata, projects map[string]bool) bool {
	if projects[object.Namespace] {
		return true
	}
	if !hubNamespaceForm.MatchString(object.Namespace) {
		return false
	}
	switch kind {
	case "PropagationPolicy":
		return object.Labels[v1alpha.LabelTopologyCity] == ""
	case "ResourceBinding":
		// Karmada creates the bindings of copies, of slices and of their data, owned by what they bind.
		owner := metav1.GetControllerOf(object)
		return owner == nil || owner.APIVersion != v1alpha.GroupVersion.String() && owner.APIVersion != "v1"
	case "Work":
		return true
	}
	return false
}

// AboutForeignObjects is a warning about ForeignObjects, with the action of the operator.
func AboutForeignObjects(objects []string) string {
	kind, name, _ := strings.Cut(objects[0], " ")
	namespace, name, _ := strings.Cut(name, "/")
	return fmt.Sprintf("objects of Karmada in projects or hub namespaces are not the add-on's, and bring what they select into cells: %s; "+
		"delete each: kubectl -n %s delete %s %s", Some(objects), namespace, strings.ToLower(kind), name)
}
