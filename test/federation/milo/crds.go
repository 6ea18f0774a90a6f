// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/milo/crds"
)

var (
	projectsResource   = schema.GroupVersionResource{Group: "resourcemanager.miloapis.com", Version: "v1alpha1", Resource: "projects"}
	crdsResource       = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	namespacesResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// fieldManager is the field manager of everything that the stand-in writes.
const fieldManager = "milo-stand-in"

const (
	// rootPatience is how long the root may take to answer and to serve the
	// stand-in's own kinds.
	rootPatience = time.Minute
	rootPoll     = 100 * time.Millisecond
)

// installCRDs installs the stand-in's own kinds at the root and waits until
// Projects can be listed.
func installCRDs(ctx context.Context, root *plane) error {
	definitions, err := embeddedCRDs()
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, rootPoll, rootPatience, true, func(ctx context.Context) (bool, error) {
		last = applyAndList(ctx, root, definitions)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("install CRDs at Milo's root, is its kube-apiserver up: %w", errors.Join(err, last))
	}
	return nil
}

func applyAndList(ctx context.Context, root *plane, crds []*unstructured.Unstructured) error {
	for _, crd := range crds {
		if err := apply(ctx, root, crdsResource, crd); err != nil {
			return err
		}
	}
	_, err := root.objects.Resource(projectsResource).List(ctx, metav1.ListOptions{Limit: 1})
	return err
}

// embeddedCRDs returns the CRDs of Milo itself.
func embeddedCRDs() ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(crds.Files, "*.yaml")
	if err != nil {
		return nil, err
	}
	definitions := make([]*unstructured.Unstructured, 0, len(files))
	for _, file := range files {
		content, err := crds.Files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &crd.Object); err != nil {
			return nil, fmt.Errorf("embedded file %s: %w", file, err)
		}
		definitions = append(definitions, crd)
	}
	return definitions, nil
}

// apply writes an object with server-side apply and takes over fields of other
// field managers.
func apply(ctx context.Context, to *plane, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	_, err := to.objects.Resource(resource).Apply(ctx, object.GetName(), object, options)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", resource.Resource, object.GetName(), err)
	}
	return nil
}
