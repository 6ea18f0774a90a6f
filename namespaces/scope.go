// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/karmada-compute/karmada-compute/milo"
)

// scope creates a client without a cache that reaches only the namespace of a project.
func (p *Planes) scope(project string) client.Client {
	inner := &guard{Client: p.live, project: project}
	return &scoped{Client: client.NewNamespacedClient(inner, project), guard: inner}
}

// scoped is a client that lists objects of the namespace only: the namespaced client looks up the scope of a list by the list's own
// kind, which no API server has.
type scoped struct {
	client.Client
	guard *guard
}

// List lists objects of the namespace, or its locations.
func (s *scoped) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return s.guard.List(ctx, list, opts...)
}

// guard refuses access outside the namespace of a project. The client around it sets the namespace of requests without one, and refuses
// any other namespace; the guard refuses kinds without namespaces, except for the few that a project has.
type guard struct {
	client.Client
	project string
}

// outside is the error for an object that a project does not have.
func (g *guard) outside(obj any) error {
	return fmt.Errorf("%T is not in namespace %s: a project that is a namespace has nothing outside of it", obj, g.project)
}

// within returns an error unless an object is of a kind with namespaces.
func (g *guard) within(obj runtime.Object) error {
	isNamespaced, err := g.IsObjectNamespaced(obj)
	if err == nil && !isNamespaced {
		err = g.outside(obj)
	}
	return err
}

// Get gets an object of the namespace, the namespace itself, or a location.
func (g *guard) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if isNamespace(obj) {
		if key.Name != g.project {
			return errNotFound(key.Name)
		}
		return g.Client.Get(ctx, key, obj, opts...)
	}
	if err := g.within(obj); err != nil {
		return err
	}
	return g.Client.Get(ctx, key, obj, opts...)
}

// List lists objects of the namespace, or its locations.
func (g *guard) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if bindings, isLocations := list.(*milo.LocationBindingList); isLocations {
		return listLocations(ctx, g.Client, g.project, bindings)
	}
	if _, isQuota := list.(*milo.ResourceGrantList); isQuota {
		// Only Milo has quota, so no request is sent.
		return &meta.NoKindMatchError{GroupKind: milo.QuotaGroupVersion.WithKind("ResourceGrant").GroupKind()}
	}
	gvk, err := g.GroupVersionKindFor(list)
	if err != nil {
		return fmt.Errorf("find the kind of %T: %w", list, err)
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	isNamespaced, err := apiutil.IsGVKNamespaced(gvk, g.RESTMapper())
	if err != nil {
		return fmt.Errorf("find the scope of %T: %w", list, err)
	}
	asked := &client.ListOptions{}
	asked.ApplyOptions(opts)
	if !isNamespaced || asked.Namespace != "" && asked.Namespace != g.project {
		return g.outside(list)
	}
	return g.Client.List(ctx, list, append(opts, client.InNamespace(g.project))...)
}

// Create creates an object of the namespace, or asks about a user in it.
func (g *guard) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	switch review := obj.(type) {
	case *authenticationv1.SelfSubjectReview:
	case *authorizationv1.SubjectAccessReview:
		if asked := review.Spec.ResourceAttributes; asked == nil || asked.Namespace != g.project {
			return g.outside(obj)
		}
	default:
		if err := g.within(obj); err != nil {
			return err
		}
	}
	return g.Client.Create(ctx, obj, opts...)
}

// Update updates an object of the namespace.
func (g *guard) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	if err := g.within(obj); err != nil {
		return err
	}
	return g.Client.Update(ctx, obj, opts...)
}

// Patch patches an object of the namespace.
func (g *guard) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if err := g.within(obj); err != nil {
		return err
	}
	return g.Client.Patch(ctx, obj, patch, opts...)
}

// Delete deletes an object of the namespace.
func (g *guard) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if err := g.within(obj); err != nil {
		return err
	}
	return g.Client.Delete(ctx, obj, opts...)
}

// DeleteAllOf deletes objects of the namespace.
func (g *guard) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	if err := g.within(obj); err != nil {
		return err
	}
	return g.Client.DeleteAllOf(ctx, obj, opts...)
}

// Apply applies an object of the namespace.
func (g *guard) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if err := g.applies(obj); err != nil {
		return err
	}
	return g.Client.Apply(ctx, obj, opts...)
}

// applies returns an error unless the applied object is in the namespace.
func (g *guard) applies(obj runtime.ApplyConfiguration) error {
	content, err := json.Marshal(obj)
	if err != nil {
		return fmt.Errorf("encode %T: %w", obj, err)
	}
	var applied metav1.PartialObjectMetadata
	if err := json.Unmarshal(content, &applied); err != nil {
		return fmt.Errorf("read the namespace of %T: %w", obj, err)
	}
	if applied.Namespace != g.project {
		return g.outside(obj)
	}
	return nil
}

// Status is the subresource status.
func (g *guard) Status() client.SubResourceWriter { return g.SubResource("status") }

// SubResource is a subresource of objects of the namespace.
func (g *guard) SubResource(name string) client.SubResourceClient {
	return &guardedSubresource{SubResourceClient: g.Client.SubResource(name), guard: g}
}

// guardedSubresource is a subresource of objects in the namespace of a project.
type guardedSubresource struct {
	client.SubResourceClient
	guard *guard
}

// Get gets the subresource of an object of the namespace.
func (s *guardedSubresource) Get(ctx context.Context, obj, subresource client.Object, opts ...client.SubResourceGetOption) error {
	if err := s.guard.within(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Get(ctx, obj, subresource, opts...)
}

// Create creates the subresource of an object of the namespace.
func (s *guardedSubresource) Create(ctx context.Context, obj, subresource client.Object, opts ...client.SubResourceCreateOption) error {
	if err := s.guard.within(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Create(ctx, obj, subresource, opts...)
}

// Update updates the subresource of an object of the namespace.
func (s *guardedSubresource) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	if err := s.guard.within(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Update(ctx, obj, opts...)
}

// Patch patches the subresource of an object of the namespace.
func (s *guardedSubresource) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := s.guard.within(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Patch(ctx, obj, patch, opts...)
}

// Apply applies the subresource of an object of the namespace.
func (s *guardedSubresource) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	if err := s.guard.applies(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Apply(ctx, obj, opts...)
}

// isNamespace reports whether an object is a Namespace.
func isNamespace(obj runtime.Object) bool {
	if _, isTyped := obj.(*corev1.Namespace); isTyped {
		return true
	}
	metadata, isMetadata := obj.(*metav1.PartialObjectMetadata)
	return isMetadata && metadata.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace")
}

// errNotFound is the answer of an API server for a namespace that it does not have.
func errNotFound(namespace string) error {
	return apierrors.NewNotFound(corev1.Resource("namespaces"), namespace)
}
