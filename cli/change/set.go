// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
)

func (c *commands) setCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Change one field of a Workload",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.setImageCommand())
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
		ValidArgsFunction: c.CompleteWorkloads,
		RunE: c.Run(func(ctx context.Context, args []string) error {
			images, err := parseImages(args[1:])
			if err != nil {
				return err
			}
			return c.change(ctx, args[0], "image updated", func(_ context.Context, _ *command.Session, workload *v1alpha.Workload) error {
				return setImages(workload, images)
			})
		}),
	})
}

// everyContainer stands for all containers, as in kubectl set image.
const everyContainer = "*"

// image is the image of a container.
type image struct{ container, reference string }

func parseImages(args []string) ([]image, error) {
	var images []image
	for _, arg := range args {
		container, reference, found := strings.Cut(arg, "=")
		if !found || container == "" || reference == "" {
			return nil, fmt.Errorf("%q is not CONTAINER=IMAGE, such as nginx=docker.io/library/nginx:1.28", arg)
		}
		images = append(images, image{container, reference})
	}
	return images, nil
}

// setImages changes all images, or none when a container does not exist.
func setImages(workload *v1alpha.Workload, images []image) error {
	sandbox := workload.Spec.Template.Spec.Runtime.Sandbox
	if sandbox == nil {
		return fmt.Errorf("workload %s has no containers", workload.Name)
	}
	var names []string
	references := map[string]*string{}
	add := func(containers []v1alpha.SandboxContainer) {
		for i := range containers {
			names = append(names, containers[i].Name)
			references[containers[i].Name] = &containers[i].Image
		}
	}
	add(sandbox.InitContainers)
	add(sandbox.Containers)

	for _, entry := range images {
		if entry.container == everyContainer {
			for _, name := range names {
				*references[name] = entry.reference
			}
			continue
		}
		if references[entry.container] == nil {
			return fmt.Errorf("workload %s has no container %q; it has %s", workload.Name, entry.container, strings.Join(names, ", "))
		}
		*references[entry.container] = entry.reference
	}
	return nil
}
