// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
)

// projectLabel marks a namespace of the hub as a project in a federation without Milo.
const projectLabel = "compute.datumapis.com/project"

// WithoutMilo reports whether projects are namespaces of the hub.
func (f *Federation) WithoutMilo() bool { return f.state.WithoutMilo }

// NamespaceIn returns the namespace of a project in which users work: without Milo the only one, named after the project.
func (f *Federation) NamespaceIn(project string) string {
	if f.state.WithoutMilo {
		return project
	}
	return metav1.NamespaceDefault
}

// createProjects creates the projects of a federation without Milo.
func (f *Federation) createProjects(ctx context.Context, projects []string) error {
	for _, project := range projects {
		if err := f.CreateProject(ctx, project); err != nil {
			return err
		}
	}
	return nil
}

// labelNamespace marks a namespace of the hub as a project.
func (f *Federation) labelNamespace(ctx context.Context, name string) error {
	hub, err := f.plane(planeHub)
	if err != nil {
		return err
	}
	project := namespace(name)
	project.SetLabels(map[string]string{projectLabel: "true"})
	if err := hub.apply(ctx, project); err != nil {
		return fmt.Errorf("label namespace %s of the hub: %w", name, err)
	}
	f.progress.printf("namespace %s of the hub is a project", name)
	return nil
}

// admit lets Consumer write Workloads in a namespace of the hub by the ordinary role edit, and waits until the role is effective.
func (f *Federation) admit(ctx context.Context, project string) error {
	hub, err := f.plane(planeHub)
	if err != nil {
		return err
	}
	if err := hub.apply(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": rbacVersion, "kind": "RoleBinding",
		"metadata": map[string]any{"namespace": project, "name": Consumer},
		"roleRef":  map[string]any{"apiGroup": rbacGroup, "kind": "ClusterRole", "name": "edit"},
		"subjects": []any{map[string]any{"apiGroup": rbacGroup, "kind": "User", "name": Consumer}},
	}}); err != nil {
		return fmt.Errorf("bind role edit in namespace %s of the hub: %w", project, err)
	}
	config, err := f.Config(planeHub, Consumer)
	if err != nil {
		return err
	}
	consumer, err := newPlane(config)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, readyInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		_, last = consumer.dynamic.Resource(workloadResource).Namespace(project).List(ctx, metav1.ListOptions{Limit: 1})
		return last == nil, nil // errors are retried until the timeout
	})
	if err != nil {
		return errors.Join(fmt.Errorf("user %s has no access to namespace %s of the hub: %w", Consumer, project, err), last)
	}
	return nil
}
