// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Parts of sentences. An object is its kubectl name, with its plane: `pod "web-0" in cell "dfw"`. Without a plane it is
// in the project. Its namespace is the scenario's; `secret "karmada-system/ca" on the hub` names another one.
const (
	APlane    = `(?:the project|project "[^"]*"|the hub|the host|cell "[^"]*"|Milo)`
	AnObject  = `([a-z][a-z.]* "[^"]*"(?: (?:in|on|at) ` + APlane + `)?)`
	Someone   = `(the consumer|an operator|the add-on|user "[^"]*")`
	InlineDoc = `(\{.*\}|\[.*\])`
)

// everywhere is the object that Kubernetes creates in every namespace.
const everywhere = "kube-root-ca.crt"

// ObjectPattern splits the words for an object into its kind, name and plane.
var ObjectPattern = regexp.MustCompile(`^(?:every )?([a-z][a-z.]*)(?: "([^"]*)")?(?: (?:in|on|at) (` + APlane + `))?$`)

// User returns the user that a sentence names.
func User(words string) string {
	switch words {
	case "the consumer":
		return Consumer
	case "the add-on":
		return AddOnUser
	case "", "an operator":
		return Admin
	}
	return strings.Trim(strings.TrimPrefix(words, "user "), `"`)
}

// Plane returns the plane that a sentence names.
func (s *Scenario) Plane(words string) string {
	kind, name, _ := strings.Cut(words, " ")
	switch words {
	case "", "the project":
		return "project/" + s.Project
	case "the hub":
		return "hub"
	case "the host":
		return "host"
	case "Milo":
		return "milo"
	}
	return kind + "/" + s.Expand(strings.Trim(name, `"`))
}

// NamespaceIn returns the name of the scenario's namespace in a plane.
func (s *Scenario) NamespaceIn(plane string) string {
	if plane == "hub" || strings.HasPrefix(plane, "cell/") {
		return s.HubNamespace()
	}
	return s.Namespace
}

// Object returns an object that a sentence names, with only its kind and name.
func (s *Scenario) Object(words string) (string, *unstructured.Unstructured, error) {
	parts := ObjectPattern.FindStringSubmatch(words)
	if parts == nil {
		return "", nil, fmt.Errorf("%q is no object", words)
	}
	plane, name := s.Plane(parts[3]), s.Expand(parts[2])
	kind, err := s.Kind(plane, parts[1])
	if err != nil {
		return "", nil, fmt.Errorf("%s serves no %s: %w", plane, parts[1], err)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	c := s.Client(plane, Admin)
	namespaced, err := c.IsObjectNamespaced(object)
	if err != nil {
		return "", nil, err
	}
	if namespaced {
		object.SetNamespace(s.NamespaceIn(plane))
		if namespace, rest, found := strings.Cut(name, "/"); found {
			object.SetNamespace(namespace)
			name = rest
		}
	}
	object.SetName(name)
	return plane, object, nil
}

// Get reads an object that a sentence names.
func (s *Scenario) Get(ctx context.Context, words string) (*unstructured.Unstructured, error) {
	plane, object, err := s.Object(words)
	if err != nil {
		return nil, err
	}
	c := s.Client(plane, Admin)
	return object, c.Get(ctx, client.ObjectKeyFromObject(object), object)
}

// List reads the objects of the scenario's namespace, by name. Objects that Kubernetes creates in every namespace are
// left out.
func (s *Scenario) List(ctx context.Context, plane, resource string) ([]unstructured.Unstructured, error) {
	kind, err := s.Kind(plane, resource)
	if err != nil {
		return nil, fmt.Errorf("%s serves no %s: %w", plane, resource, err)
	}
	c := s.Client(plane, Admin)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.List(ctx, list, client.InNamespace(s.NamespaceIn(plane))); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(object unstructured.Unstructured) bool {
		return object.GetName() == everywhere
	}), nil
}

// NotFound returns nil if err reports that an object does not exist, and an error if the object exists.
func NotFound(err error, what string) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is there", what)
}

// Named reads the objects that words name: one object, or every one of a kind, of which there must be at least one.
func (s *Scenario) Named(ctx context.Context, words string) ([]unstructured.Unstructured, error) {
	parts := ObjectPattern.FindStringSubmatch(words)
	if parts == nil {
		return nil, fmt.Errorf("%q is no object", words)
	}
	if strings.HasPrefix(words, "every ") {
		found, err := s.List(ctx, s.Plane(parts[3]), parts[1])
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("there is no %s", parts[1])
		}
		return found, err
	}
	object, err := s.Get(ctx, words)
	if err != nil {
		return nil, err
	}
	return []unstructured.Unstructured{*object}, nil
}
