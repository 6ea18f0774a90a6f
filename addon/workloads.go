// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"net/url"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// projectVersion is the version of Milo's Projects.
const projectVersion = "resourcemanager.miloapis.com/v1alpha1"

// projectPath is where Milo serves the control plane of a project.
const projectPath = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/%s/control-plane"

// checkWorkloads refuses to disable an addon in use, unless the flags request it.
func (s *session) checkWorkloads(ctx context.Context) error {
	if s.options.workloads != workloadsRefuse {
		return nil
	}
	deployments, err := s.hub.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkloadDeployment)
	if err != nil {
		return err
	}
	if err := s.held(ctx, s.hub, deployments); err != nil {
		return err
	}
	if len(deployments) > 0 {
		return fmt.Errorf("%d WorkloadDeployments exist on the hub, the first is %s: delete their Workloads, or say with "+
			"--compute-workloads=keep or =delete what is to happen to them",
			len(deployments), deployments[0].GetNamespace()+"/"+deployments[0].GetName())
	}
	projects, err := s.marked(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		// They have no deployment, for example because no cell has their city.
		workloads, err := project.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkload)
		if err == nil {
			err = s.held(ctx, project, workloads)
		}
		if err != nil {
			return err
		}
		if len(workloads) > 0 {
			return fmt.Errorf("%d Workloads exist at %s, the first is %s: delete them, or say with --compute-workloads=keep or =delete "+
				"what is to happen to them", len(workloads), project.name, workloads[0].GetNamespace()+"/"+workloads[0].GetName())
		}
	}
	return nil
}

// marked are the planes that may have Workloads, by the marks on the hub: each request to another project costs Milo
// memory, and the control plane of a project that does not exist answers, too.
func (s *session) marked(ctx context.Context) ([]*plane, error) {
	if isWithoutMilo(s.values) {
		return []*plane{s.hub}, nil
	}
	if s.milo == nil {
		return nil, nil
	}
	marks, err := s.hub.list(ctx, "v1", "ConfigMap", client.InNamespace(hubNamespace), client.HasLabels{v1alpha.LabelProjectMark})
	if err != nil {
		return nil, err
	}
	var planes []*plane
	for i := range marks {
		name := marks[i].GetAnnotations()[v1alpha.AnnotationProjectName]
		exists, err := s.milo.exists(ctx, reference{projectVersion, "Project", "", name})
		if err != nil {
			return nil, err
		}
		if !exists || name == "" {
			continue
		}
		project, err := s.project(name)
		if err != nil {
			return nil, err
		}
		planes = append(planes, project)
	}
	return planes, nil
}

// deleteWorkloads deletes every Workload of every project and waits until the add-on, which still runs, has cleaned up.
func (s *session) deleteWorkloads(ctx context.Context) error {
	if s.options.workloads != workloadsDelete {
		return nil
	}
	projects, err := s.projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		if err := s.deleteWorkloadsOf(ctx, project); err != nil {
			return err
		}
	}
	if err := s.awaitDeleted(ctx, s.hub, v1alpha.KindWorkloadDeployment); err != nil {
		return err
	}
	s.say("every Workload is deleted")
	return nil
}

// projects are the planes that have Workloads: the control planes of all projects of Milo, or the hub with all of its
// namespaces.
func (s *session) projects(ctx context.Context) ([]*plane, error) {
	if isWithoutMilo(s.values) {
		return []*plane{s.hub}, nil
	}
	if s.milo == nil {
		return nil, nil // A run that was interrupted has ended there.
	}
	projects, err := s.milo.list(ctx, projectVersion, "Project")
	if err != nil {
		return nil, err
	}
	var planes []*plane
	for i := range projects {
		p, err := s.project(projects[i].GetName())
		if err != nil {
			return nil, err
		}
		planes = append(planes, p)
	}
	return planes, nil
}

// deleteWorkloadsOf deletes the Workloads of a plane and waits until they are gone.
func (s *session) deleteWorkloadsOf(ctx context.Context, p *plane) error {
	workloads, err := p.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkload)
	if err == nil {
		err = s.held(ctx, p, workloads)
	}
	if err != nil {
		return err
	}
	for i := range workloads {
		if err := client.IgnoreNotFound(p.Delete(ctx, &workloads[i])); err != nil {
			return fmt.Errorf("delete %s at %s: %w", describe(&workloads[i]), p.name, err)
		}
	}
	return s.awaitDeleted(ctx, p, v1alpha.KindWorkload)
}

// project connects to the control plane of a project.
func (s *session) project(name string) (*plane, error) {
	host, err := url.JoinPath(s.milo.config.Host, fmt.Sprintf(projectPath, url.PathEscape(name)))
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(s.milo.config)
	config.Host = host
	return planeOf("project "+name, config)
}
