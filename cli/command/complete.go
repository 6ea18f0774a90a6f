// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// completionTimeout bounds how long a shell waits.
const completionTimeout = 3 * time.Second

// CompleteWorkloads completes the name of a Workload.
func (c *Command) CompleteWorkloads(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, _ := c.names(cmd)
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteObjects completes the name of a Workload or an Instance.
func (c *Command) CompleteObjects(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	workloads, instances := c.names(cmd)
	return append(workloads, instances...), cobra.ShellCompDirectiveNoFileComp
}

// names returns the names of the Workloads and Instances in the namespace. Objects that cannot be read are not
// completed.
func (c *Command) names(cmd *cobra.Command) (workloads, instances []string) {
	ctx, stop := c.context(cmd)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	s, err := c.ConnectToWorkload()
	if err != nil {
		return nil, nil
	}
	if s.Project == nil {
		return c.namesOnHub(ctx, s)
	}
	list := &v1alpha.WorkloadList{}
	if err := s.Project.Client.List(ctx, list, client.InNamespace(s.Namespace)); err == nil {
		for i := range list.Items {
			workloads = append(workloads, list.Items[i].Name)
		}
	}
	found := &v1alpha.InstanceList{}
	if err := s.Project.Client.List(ctx, found, client.InNamespace(s.Namespace)); err == nil {
		for i := range found.Items {
			instances = append(instances, found.Items[i].Name)
		}
	}
	return workloads, instances
}

func (c *Command) namesOnHub(ctx context.Context, s *Session) (workloads, instances []string) {
	copies := &v1alpha.WorkloadDeploymentList{}
	if err := s.Hub.Client.List(ctx, copies, s.Copies()); err != nil {
		return nil, nil
	}
	for i := range copies.Items {
		workloads = append(workloads, copies.Items[i].Spec.WorkloadRef.Name)
		for _, index := range slices.Sorted(maps.Keys(wire.FactsOf(&copies.Items[i]))) {
			instances = append(instances, naming.InstanceName(copies.Items[i].Name, index))
		}
	}
	slices.Sort(workloads)
	return slices.Compact(workloads), instances
}
