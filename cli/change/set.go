// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/cmd/set/env"
	"k8s.io/kubectl/pkg/generate/versioned"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
)

func (c *commands) setCommand() *cobra.Command {
	cmd := command.Parent(&cobra.Command{Use: "set", SuggestFor: []string{"edit"}, Short: "Change one field of a Workload"})
	cmd.AddCommand(c.setImageCommand(), c.setEnvCommand(), c.setResourcesCommand())
	return cmd
}

func (c *commands) setImageCommand() *cobra.Command {
	return c.compared(&cobra.Command{
		Use:   "image WORKLOAD CONTAINER=IMAGE...",
		Short: "Change the images of containers, which rolls out",
		Long: "Change the images of containers and init containers. The new template rolls out as any other: `rollout status` follows it,\n" +
			"and `rollout undo` takes it back.",
		Example: c.Examples(`
  %s set image web nginx=docker.io/library/nginx:1.28
  # All containers
  %s set image web '*=docker.io/library/nginx:1.28'`),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("name a Workload, and for each container CONTAINER=IMAGE, such as nginx=docker.io/library/nginx:1.28")
			}
			return nil
		},
		ValidArgsFunction: c.CompleteWorkloads(command.Images),
		RunE: c.Run(func(ctx context.Context, args []string) error {
			return c.change(ctx, args[0], "image updated", func(_ context.Context, _ *command.Session, workload *v1alpha.Workload) error {
				return setImages(workload, args[1:])
			})
		}),
	})
}

// setImages changes all images, or none when a container does not exist.
func setImages(workload *v1alpha.Workload, args []string) error {
	for _, arg := range args {
		name, image, found := strings.Cut(arg, "=")
		if !found || name == "" || image == "" {
			return fmt.Errorf("%q is not CONTAINER=IMAGE, such as nginx=docker.io/library/nginx:1.28", arg)
		}
		containers, err := containersOf(workload, name)
		if err != nil {
			return err
		}
		for _, container := range containers {
			container.Image = image
		}
	}
	return nil
}

// everyContainer stands for all containers, as in kubectl set.
const everyContainer = "*"

// containersOf returns the containers and init containers with a name, which exist, or all.
func containersOf(workload *v1alpha.Workload, name string) ([]*v1alpha.SandboxContainer, error) {
	all := workload.Spec.Template.Spec.Runtime.Sandbox.AllContainers()
	if name == everyContainer && len(all) > 0 {
		return all, nil
	}
	names := make([]string, 0, len(all))
	for i := range all {
		if all[i].Name == name {
			return all[i : i+1], nil
		}
		names = append(names, all[i].Name)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("workload %s has no containers", workload.Name)
	}
	return nil, fmt.Errorf("workload %s has no container %q; it has %s", workload.Name, name, strings.Join(names, ", "))
}

// inContainers adds --containers to a command that changes containers of a Workload.
func (c *commands) inContainers(name *string, cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVarP(name, "containers", "c", everyContainer, "The name of a container or init container; *: all of them.")
	c.CompleteFlag(cmd, "containers", command.Containers)
	return c.compared(cmd)
}

// setContainers changes the selected containers of a Workload.
func (c *commands) setContainers(ctx context.Context, workload, container, done string, set func(*v1alpha.SandboxContainer)) error {
	return c.change(ctx, workload, done, func(_ context.Context, _ *command.Session, w *v1alpha.Workload) error {
		containers, err := containersOf(w, container)
		for _, selected := range containers {
			set(selected)
		}
		return err
	})
}

func (c *commands) setEnvCommand() *cobra.Command {
	var container string
	cmd := &cobra.Command{
		Use:   "env WORKLOAD (KEY=VALUE | KEY-)...",
		Short: "Change environment variables of containers, which rolls out",
		Long:  "Set environment variables of containers, and with KEY- remove them. - reads KEY=VALUE lines from the standard input.",
		Example: c.Examples(`
  %s set env web LOG_LEVEL=debug CACHE-`),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("name a Workload, and KEY=VALUE for each variable to set, or KEY- for each one to remove")
			}
			return nil
		},
		ValidArgsFunction: c.CompleteWorkloads(),
		RunE: c.Run(func(ctx context.Context, args []string) error {
			variables, removed, _, err := env.ParseEnv(args[1:], c.Streams.In)
			if err != nil {
				return err
			}
			return c.setContainers(ctx, args[0], container, "env updated", func(selected *v1alpha.SandboxContainer) {
				selected.Env = slices.DeleteFunc(selected.Env, func(v corev1.EnvVar) bool {
					return slices.Contains(removed, v.Name)
				})
				for _, variable := range variables {
					at := slices.IndexFunc(selected.Env, func(v corev1.EnvVar) bool { return v.Name == variable.Name })
					if at < 0 {
						selected.Env = append(selected.Env, variable)
						continue
					}
					selected.Env[at] = variable
				}
			})
		}),
	}
	return c.inContainers(&container, cmd)
}

func (c *commands) setResourcesCommand() *cobra.Command {
	var container, limits, requests string
	cmd := &cobra.Command{
		Use:   "resources WORKLOAD [--limits=LIMITS] [--requests=REQUESTS]",
		Short: "Change limits and requests of containers, which rolls out",
		Long:  "Change limits and requests of containers. Resources that no flag names stay as they are; 0 is no limit.",
		Example: c.Examples(`
  %s set resources web -c nginx --limits=cpu=500m,memory=256Mi --requests=cpu=100m`),
		Args:              command.OneArg("the name of a Workload"),
		ValidArgsFunction: c.CompleteWorkloads(),
		RunE: c.Run(func(ctx context.Context, args []string) error {
			if limits == "" && requests == "" {
				return errors.New("name what to change with --limits or --requests, such as --limits=cpu=500m,memory=256Mi")
			}
			parsed, err := versioned.HandleResourceRequirementsV1(map[string]string{"limits": limits, "requests": requests})
			if err != nil {
				return err
			}
			return c.setContainers(ctx, args[0], container, "resource requirements updated", func(selected *v1alpha.SandboxContainer) {
				if selected.Resources == nil {
					selected.Resources = &v1alpha.ContainerResourceRequirements{}
				}
				selected.Resources.Limits = merged(selected.Resources.Limits, parsed.Limits)
				selected.Resources.Requests = merged(selected.Resources.Requests, parsed.Requests)
			})
		}),
	}
	cmd.Flags().StringVar(&limits, "limits", "", "The limits, such as cpu=500m,memory=256Mi.")
	cmd.Flags().StringVar(&requests, "requests", "", "The requests, such as cpu=100m,memory=128Mi.")
	return c.inContainers(&container, cmd)
}

// merged returns resources with what others replace.
func merged(resources, others corev1.ResourceList) corev1.ResourceList {
	if resources == nil {
		return others
	}
	maps.Copy(resources, others)
	return resources
}
