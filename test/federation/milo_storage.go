// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// EmptyMilo restarts Milo with an empty storage of its root: it has no Project, and another namespace default. The
// root's roles and bindings are applied again, as an operator's tools do: an add-on without rights gets no answer at
// all. The control planes of projects keep running, and Milo serves none of them. RestoreMilo ends it.
func (f *Federation) EmptyMilo(ctx context.Context) error {
	roles, err := f.miloRoles(ctx)
	if err != nil {
		return err
	}
	return f.restartMilo(ctx, fmt.Sprintf("%s-%d", planeMiloRoot, time.Now().UnixNano()), roles)
}

// RestoreMilo restarts Milo with the storage that it had before EmptyMilo.
func (f *Federation) RestoreMilo(ctx context.Context) error {
	return f.restartMilo(ctx, planeMiloRoot, nil)
}

// restartMilo restarts the root and the router with a storage, and applies objects to the root between.
func (f *Federation) restartMilo(ctx context.Context, storage string, objects []*unstructured.Unstructured) error {
	if err := errors.Join(f.StopMilo(), f.StopMiloRoot()); err != nil {
		return fmt.Errorf("stop Milo: %w", err)
	}
	root := f.miloRoot()
	root.storage = storage
	if err := f.startAPIServer(ctx, root); err != nil {
		return err
	}
	client, err := f.plane(planeMiloRoot)
	if err != nil {
		return err
	}
	if err := errors.Join(f.applyOwnCRDs(ctx, client), client.apply(ctx, objects...)); err != nil {
		return err
	}
	return f.StartMilo(ctx)
}

// miloRoles returns the ClusterRoles and ClusterRoleBindings of Milo's root that Kubernetes did not create.
func (f *Federation) miloRoles(ctx context.Context) ([]*unstructured.Unstructured, error) {
	root, err := f.plane(planeMiloRoot)
	if err != nil {
		return nil, err
	}
	var roles []*unstructured.Unstructured
	for _, resource := range []string{"clusterroles", "clusterrolebindings"} {
		kind := schema.GroupVersionResource{Group: rbacGroup, Version: "v1", Resource: resource}
		found, err := root.dynamic.Resource(kind).List(ctx, metav1.ListOptions{LabelSelector: "!kubernetes.io/bootstrapping"})
		if err != nil {
			return nil, fmt.Errorf("list the %s of Milo's root: %w", resource, err)
		}
		for i := range found.Items {
			role := &found.Items[i]
			copied := &unstructured.Unstructured{Object: map[string]any{}}
			for _, member := range []string{"rules", "aggregationRule", "roleRef", "subjects"} {
				if value, has := role.Object[member]; has {
					copied.Object[member] = value
				}
			}
			copied.SetGroupVersionKind(role.GroupVersionKind())
			copied.SetName(role.GetName())
			copied.SetLabels(role.GetLabels())
			roles = append(roles, copied)
		}
	}
	return roles, nil
}
