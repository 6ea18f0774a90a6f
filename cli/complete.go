// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cellreport"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// completionTimeout bounds how long a shell waits.
const completionTimeout = 3 * time.Second

// completeWorkloads completes the name of a Workload.
func (c *command) completeWorkloads(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, _ := c.names(cmd)
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeObjects completes the name of a Workload or an Instance.
func (c *command) completeObjects(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	workloads, instances := c.names(cmd)
	return append(workloads, instances...), cobra.ShellCompDirectiveNoFileComp
}

// names returns the names of the Workloads and Instances in the namespace. Objects that cannot be read are not completed.
func (c *command) names(cmd *cobra.Command) (workloads, instances []string) {
	ctx, stop := c.context(cmd)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	s, err := c.connectToWorkload()
	if err != nil {
		return nil, nil
	}
	if s.project == nil {
		return c.namesOnHub(ctx, s)
	}
	list := &v1alpha.WorkloadList{}
	if err := s.project.Client.List(ctx, list, client.InNamespace(s.namespace)); err == nil {
		for i := range list.Items {
			workloads = append(workloads, list.Items[i].Name)
		}
	}
	found := &v1alpha.InstanceList{}
	if err := s.project.Client.List(ctx, found, client.InNamespace(s.namespace)); err == nil {
		for i := range found.Items {
			instances = append(instances, found.Items[i].Name)
		}
	}
	return workloads, instances
}

func (c *command) namesOnHub(ctx context.Context, s *session) (workloads, instances []string) {
	copies := &v1alpha.WorkloadDeploymentList{}
	if err := s.hub.Client.List(ctx, copies, ofProject(s)); err != nil {
		return nil, nil
	}
	for i := range copies.Items {
		workloads = append(workloads, copies.Items[i].Spec.WorkloadRef.Name)
		for _, index := range slices.Sorted(maps.Keys(cellreport.FactsOf(&copies.Items[i]))) {
			instances = append(instances, naming.InstanceName(copies.Items[i].Name, index))
		}
	}
	slices.Sort(workloads)
	return slices.Compact(workloads), instances
}

// ofProject selects the hub's copies of a project's namespace.
func ofProject(s *session) client.MatchingLabels {
	return client.MatchingLabels{v1alpha.LabelProject: naming.ProjectLabel(s.projectName), v1alpha.LabelProjectNamespace: s.namespace}
}
