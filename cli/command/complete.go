// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// completionTimeout bounds how long a shell waits.
const completionTimeout = 3 * time.Second

// Values returns the values with which a shell completes. Objects that cannot be read are not completed.
type Values func(ctx context.Context, s *Session, args []string) []string

// Complete returns what completes an argument or a flag with values.
func (c *Command) Complete(values Values) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := c.context(cmd)
		defer stop()
		ctx, cancel := context.WithTimeout(ctx, completionTimeout)
		defer cancel()
		s, err := c.ConnectToWorkload()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, directive := values(ctx, s, args), cobra.ShellCompDirectiveNoFileComp
		if len(found) > 0 && strings.HasSuffix(found[0], "=") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

// CompleteFlag completes a flag of a command with values.
func (c *Command) CompleteFlag(cmd *cobra.Command, flag string, values Values) {
	_ = cmd.RegisterFlagCompletionFunc(flag, c.Complete(values)) // the flag exists
}

// CompleteWorkloads completes the name of a Workload, and further arguments with more values.
func (c *Command) CompleteWorkloads(more ...Values) cobra.CompletionFunc {
	return c.completeFirst(Workloads, more)
}

// CompleteObjects completes the name of a Workload or an Instance, and further arguments with more values.
func (c *Command) CompleteObjects(more ...Values) cobra.CompletionFunc {
	return c.completeFirst(func(ctx context.Context, s *Session, args []string) []string {
		return append(Workloads(ctx, s, args), instances(ctx, s)...)
	}, more)
}

func (c *Command) completeFirst(first Values, more []Values) cobra.CompletionFunc {
	return c.Complete(func(ctx context.Context, s *Session, args []string) []string {
		if len(args) == 0 {
			return first(ctx, s, args)
		}
		var result []string
		for _, values := range more {
			result = append(result, values(ctx, s, args)...)
		}
		return result
	})
}

// deployments returns the deployments in the namespace: the project's, or else their copies on the hub.
func (s *Session) deployments(ctx context.Context) []v1alpha.WorkloadDeployment {
	list := &v1alpha.WorkloadDeploymentList{}
	var err error
	if s.Project != nil {
		err = s.Project.Client.List(ctx, list, client.InNamespace(s.Namespace))
	} else {
		err = s.Hub.Client.List(ctx, list, s.Copies())
	}
	if err != nil {
		return nil
	}
	return list.Items
}

// Workloads are the names of the Workloads in the namespace.
func Workloads(ctx context.Context, s *Session, _ []string) (names []string) {
	if s.Project == nil {
		for _, d := range s.deployments(ctx) {
			names = append(names, d.Spec.WorkloadRef.Name)
		}
		return unique(names)
	}
	list := &v1alpha.WorkloadList{}
	if err := s.Project.Client.List(ctx, list, client.InNamespace(s.Namespace)); err == nil {
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
	}
	return names
}

func instances(ctx context.Context, s *Session) (names []string) {
	if s.Project == nil {
		for _, d := range s.deployments(ctx) {
			for _, index := range slices.Sorted(maps.Keys(wire.FactsOf(&d))) {
				names = append(names, naming.InstanceName(d.Name, index))
			}
		}
		return names
	}
	list := &v1alpha.InstanceList{}
	if err := s.Project.Client.List(ctx, list, client.InNamespace(s.Namespace)); err == nil {
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
	}
	return names
}

// Cities are the codes of the cities in which Workloads of the namespace run.
func Cities(ctx context.Context, s *Session, _ []string) (codes []string) {
	for _, d := range s.deployments(ctx) {
		codes = append(codes, d.Spec.CityCode)
	}
	return unique(codes)
}

// Containers are the names of the containers of the Workload or Instance that the first argument names.
func Containers(ctx context.Context, s *Session, args []string) (names []string) {
	for _, container := range containersOf(ctx, s, args) {
		names = append(names, container.Name)
	}
	return names
}

// Images are the containers with the equals sign that `set image` takes after them.
func Images(ctx context.Context, s *Session, args []string) (names []string) {
	for _, name := range Containers(ctx, s, args) {
		names = append(names, name+"=")
	}
	return names
}

// Ports are the names of the ports of the containers.
func Ports(ctx context.Context, s *Session, args []string) (names []string) {
	for _, container := range containersOf(ctx, s, args) {
		for _, port := range container.Ports {
			names = append(names, port.Name)
		}
	}
	return names
}

func containersOf(ctx context.Context, s *Session, args []string) []*v1alpha.SandboxContainer {
	if s.Project == nil || len(args) == 0 {
		return nil
	}
	instance, workload := &v1alpha.Instance{}, &v1alpha.Workload{}
	switch key := s.Key(Bare(args[0])); {
	case s.Project.Client.Get(ctx, key, instance) == nil:
		return instance.Spec.Runtime.Sandbox.AllContainers()
	case s.Project.Client.Get(ctx, key, workload) == nil:
		return workload.Spec.Template.Spec.Runtime.Sandbox.AllContainers()
	}
	return nil
}

// Revisions are the numbers of the revisions of the Workload that the first argument names, with their images.
func Revisions(ctx context.Context, s *Session, args []string) (numbers []string) {
	workload := &v1alpha.Workload{}
	if s.Project == nil || len(args) == 0 || s.Project.Client.Get(ctx, s.Key(Bare(args[0])), workload) != nil {
		return nil
	}
	revisions, _ := view.ReadRevisions(ctx, s.Project.Client, workload) // what cannot be read is not completed
	for i := range revisions {
		images := strings.Join(view.ImagesOf(&revisions[i].Spec.Template), ",")
		numbers = append(numbers, fmt.Sprintf("%d\t%s", revisions[i].Spec.Revision, images))
	}
	return numbers
}

func unique(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}
