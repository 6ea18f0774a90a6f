// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

const (
	rbacGroup      = "rbac.authorization.k8s.io"
	admissionGroup = "admissionregistration.k8s.io"
	// bootstrapLabel marks objects that every kube-apiserver creates itself.
	bootstrapLabel = "kubernetes.io/bootstrapping"
	lastApplied    = "kubectl.kubernetes.io/last-applied-configuration"
)

// Scopes of a CRD.
const (
	scopeCluster    = "Cluster"
	scopeNamespaced = "Namespaced"
)

var bindingsResource = schema.GroupVersionResource{Group: rbacGroup, Version: "v1", Resource: "clusterrolebindings"}

// sharedResources are copied from the root to every project, in this order:
// kinds before the webhooks that name them.
var sharedResources = []schema.GroupVersionResource{
	crdsResource,
	{Group: rbacGroup, Version: "v1", Resource: "clusterroles"},
	bindingsResource,
	{Group: admissionGroup, Version: "v1", Resource: "mutatingwebhookconfigurations"},
	{Group: admissionGroup, Version: "v1", Resource: "validatingwebhookconfigurations"},
}

// sharedSet is the set of objects at the root that every project has copies of.
type sharedSet struct {
	stores map[schema.GroupVersionResource]cache.Store
}

// watch registers the set's informers with the factory and calls changed for
// every object whose copies have to change.
func (s *sharedSet) watch(factory dynamicinformer.DynamicSharedInformerFactory, changed func(item)) error {
	s.stores = map[schema.GroupVersionResource]cache.Store{}
	for _, resource := range sharedResources {
		informer := factory.ForResource(resource).Informer()
		s.stores[resource] = informer.GetStore()
		notify := func(object any) {
			if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
				changed(item{resource: resource, name: name})
			}
		}
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    notify,
			DeleteFunc: notify,
			UpdateFunc: func(before, after any) {
				if !sameCopy(before, after) {
					notify(after)
				}
			},
		})
		if err != nil {
			return fmt.Errorf("watch %s at Milo's root: %w", resource.Resource, err)
		}
	}
	return nil
}

// installTo writes the whole set to a project and deletes the copies whose
// original has been deleted meanwhile.
func (s *sharedSet) installTo(ctx context.Context, to *plane) error {
	for _, resource := range sharedResources {
		names := s.stores[resource].ListKeys()
		existing, err := to.objects.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		for i := range existing.Items {
			names = append(names, existing.Items[i].GetName())
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if err := s.copyTo(ctx, to, item{resource: resource, name: name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyTo creates, updates or deletes a project's copy of one object.
func (s *sharedSet) copyTo(ctx context.Context, to *plane, it item) error {
	original, err := s.original(it)
	if err != nil {
		return err
	}
	if original == nil {
		return deleteCopy(ctx, to, it)
	}
	err = apply(ctx, to, it.resource, copyOf(original))
	if apierrors.IsInvalid(err) && it.resource == bindingsResource {
		// The role of a binding is immutable: at the root the binding was recreated.
		return errors.Join(err, deleteCopy(ctx, to, it)) // the retry creates it
	}
	return err
}

// original returns the object at the root, or nil if there is none to copy.
func (s *sharedSet) original(it item) (*unstructured.Unstructured, error) {
	object, exists, err := s.stores[it.resource].GetByKey(it.name)
	if err != nil {
		return nil, fmt.Errorf("read %s %s of Milo's root: %w", it.resource.Resource, it.name, err)
	}
	if !exists {
		return nil, nil
	}
	original, ok := object.(*unstructured.Unstructured)
	if !ok || !isShared(original) {
		return nil, nil
	}
	return original, nil
}

// servedBy reports whether discovery of a project lists every kind of the set.
func (s *sharedSet) servedBy(ctx context.Context, by *plane) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err() // discovery takes no context
	}
	_, lists, _, err := by.kinds.GroupsAndMaybeResources()
	if err != nil {
		return false, fmt.Errorf("read the kinds of the control plane: %w", err)
	}
	for _, kind := range s.kinds(scopeCluster, scopeNamespaced) {
		list := lists[kind.GroupVersion()]
		if list == nil || !slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == kind.Resource }) {
			return false, nil
		}
	}
	return true, nil
}

// kinds returns the resources of the shared CRDs that have one of the scopes,
// each in one served version.
func (s *sharedSet) kinds(scopes ...string) []schema.GroupVersionResource {
	var kinds []schema.GroupVersionResource
	for _, object := range s.stores[crdsResource].List() {
		crd, ok := object.(*unstructured.Unstructured)
		if !ok || !isShared(crd) {
			continue
		}
		scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
		if kind, ok := servedKind(crd); ok && slices.Contains(scopes, scope) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// servedKind returns the resource of a CRD in its first served version.
func servedKind(crd *unstructured.Unstructured) (schema.GroupVersionResource, bool) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, entry := range versions {
		version, _ := entry.(map[string]any)
		if served, _ := version["served"].(bool); served {
			name, _ := version["name"].(string)
			return schema.GroupVersionResource{Group: group, Version: name, Resource: plural}, true
		}
	}
	return schema.GroupVersionResource{}, false
}

// isShared reports whether projects get a copy of a watched object. They get none
// of objects that a kube-apiserver creates itself, of objects that are being
// deleted, and of the CRD of Projects, which exist at the root only.
func isShared(object *unstructured.Unstructured) bool {
	_, bootstrap := object.GetLabels()[bootstrapLabel]
	isProjects := object.GetKind() == "CustomResourceDefinition" && object.GetName() == projectsResource.GroupResource().String()
	return !bootstrap && !isProjects && object.GetDeletionTimestamp() == nil
}

// copyOf returns the apply configuration of an object's copy.
func copyOf(original *unstructured.Unstructured) *unstructured.Unstructured {
	object := original.DeepCopy()
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	delete(annotations, lastApplied)
	delete(object.Object, "metadata")
	delete(object.Object, "status")
	if _, aggregated := object.Object["aggregationRule"]; aggregated {
		delete(object.Object, "rules") // the project's own controller sets them
	}
	object.SetName(original.GetName())
	if len(labels) > 0 {
		object.SetLabels(labels)
	}
	if len(annotations) > 0 {
		object.SetAnnotations(annotations)
	}
	return object
}

// sameCopy reports whether two states of an original have the same copy, which
// they do when only the status differs.
func sameCopy(before, after any) bool {
	a, okA := before.(*unstructured.Unstructured)
	b, okB := after.(*unstructured.Unstructured)
	if !okA || !okB || isShared(a) != isShared(b) {
		return false
	}
	return reflect.DeepEqual(copyOf(a).Object, copyOf(b).Object)
}

// deleteCopy deletes an object of a project, if it is a copy.
func deleteCopy(ctx context.Context, from *plane, it item) error {
	object, err := from.objects.Resource(it.resource).Get(ctx, it.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", it.resource.Resource, it.name, err)
	}
	isCopy := slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == fieldManager && entry.Operation == metav1.ManagedFieldsOperationApply
	})
	if !isCopy {
		return nil
	}
	return deleteObject(ctx, from, it.resource, object)
}
