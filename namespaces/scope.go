// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/milo"
)

// scope creates a client without a cache that reaches only the namespace of a project.
func (p *Planes) scope(project string) client.Client {
	return &scoped{Client: client.NewNamespacedClient(p.within, project), planes: p, project: project}
}

// onlyNamespaced maps the kinds with namespaces, and the reviews of access. A client with this mapper refuses all
// others.
type onlyNamespaced struct{ meta.RESTMapper }

// RESTMapping is the mapping of a kind that a project has.
func (m onlyNamespaced) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	isReview := kind.Group == authenticationv1.GroupName || kind.Group == authorizationv1.GroupName
	if err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot && !isReview {
		return nil, fmt.Errorf("there is no %s in a namespace: a project that is a namespace has nothing outside of it", kind)
	}
	return mapping, err
}

// scoped is a client for the namespace of a project. The client in it sets the namespace of requests without one, and
// refuses any other namespace.
type scoped struct {
	client.Client
	planes  *Planes
	project string
}

// Get gets an object of the namespace, or the namespace itself with its identity as a project.
func (s *scoped) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	switch {
	case !isNamespace(obj):
		return s.Client.Get(ctx, key, obj, opts...)
	case key.Name != s.project:
		return errNotFound(key.Name)
	}
	err := s.planes.live.Get(ctx, key, obj, opts...)
	if err == nil {
		obj.SetUID(identityOf(obj))
	}
	return err
}

// List lists objects of the namespace, or its locations. The namespaced client would look up the scope of a list by the
// list's own kind, which no API server has.
func (s *scoped) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	asked := &client.ListOptions{}
	asked.ApplyOptions(opts)
	switch bindings := list.(type) {
	case *milo.LocationBindingList:
		return listLocations(ctx, s.planes.live, s.project, bindings)
	case *milo.ResourceGrantList:
		// Only Milo has quota, so no request is sent.
		return &meta.NoKindMatchError{GroupKind: milo.QuotaGroupVersion.WithKind("ResourceGrant").GroupKind()}
	}
	if asked.Namespace != "" && asked.Namespace != s.project {
		return s.outside(list)
	}
	return s.planes.within.List(ctx, list, append(opts, client.InNamespace(s.project))...)
}

// Create creates an object of the namespace, or asks about a user in it.
func (s *scoped) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if review, ok := obj.(*authorizationv1.SubjectAccessReview); ok {
		if asked := review.Spec.ResourceAttributes; asked == nil || asked.Namespace != s.project {
			return s.outside(obj)
		}
	}
	return s.Client.Create(ctx, obj, opts...)
}

// outside is the error for an object that a project does not have.
func (s *scoped) outside(obj any) error {
	return fmt.Errorf("%T is not in namespace %s: a project that is a namespace has nothing outside of it", obj, s.project)
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
