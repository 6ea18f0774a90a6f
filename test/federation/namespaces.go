// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// projectLabel marks a namespace of the hub as a project in a federation without Milo.
const projectLabel = "compute.datumapis.com/project"

// WithoutMilo reports whether projects are namespaces of the hub.
func (f *Federation) WithoutMilo() bool { return f.state.WithoutMilo }

// NamespaceIn returns the namespace of a project in which users work: without Milo the only one, named after the
// project.
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

// admit lets Consumer write Workloads in a namespace of the hub by the role of a consumer, and waits until the role is
// effective.
func (f *Federation) admit(ctx context.Context, project string) error {
	hub, err := f.plane(planeHub)
	if err != nil {
		return err
	}
	if err := hub.applyFile(ctx, "project-consumer.yaml", map[string]string{"user": Consumer, "namespace": project}); err != nil {
		return fmt.Errorf("bind the role of a consumer in namespace %s of the hub: %w", project, err)
	}
	return f.waitForConsumer(ctx, project)
}
