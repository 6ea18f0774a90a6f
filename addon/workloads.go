// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// projectPath is where Milo serves the control plane of a project.
const projectPath = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/%s/control-plane"

// ownLeases is the prefix of the names of the replicas' Leases, and of the record of their shards.
const ownLeases = "karmada-compute-"

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
		if err := deleteWorkloadsOf(ctx, project, s.options.karmada.timeout); err != nil {
			return err
		}
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, s.options.karmada.timeout, true, func(ctx context.Context) (bool, error) {
		left, err := s.hub.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkloadDeployment)
		return err == nil && len(left) == 0, err
	})
	if err != nil {
		return fmt.Errorf("WorkloadDeployments are left on the hub; the add-on must run to remove them: %w", err)
	}
	s.say("every Workload is deleted")
	return nil
}

// projects are the planes that have Workloads: the control planes of all projects of Milo, or the hub with all of its namespaces.
func (s *session) projects(ctx context.Context) ([]*plane, error) {
	if isWithoutMilo(s.values) {
		return []*plane{s.hub}, nil
	}
	projects, err := s.milo.list(ctx, "resourcemanager.miloapis.com/v1alpha1", "Project")
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
func deleteWorkloadsOf(ctx context.Context, p *plane, timeout time.Duration) error {
	workloads, err := p.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkload)
	if err != nil {
		return err
	}
	for i := range workloads {
		if err := client.IgnoreNotFound(p.Delete(ctx, &workloads[i])); err != nil {
			return fmt.Errorf("delete %s at %s: %w", describe(&workloads[i]), p.name, err)
		}
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		left, err := p.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkload)
		return err == nil && len(left) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("workloads are left at %s: %w", p.name, err)
	}
	return nil
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
