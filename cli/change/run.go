// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
)

// running holds the flags of run.
type running struct {
	image    string
	cities   []string
	replicas int32
	port     int32
	out      *command.Output
}

func (c *commands) runCommand() *cobra.Command {
	o := &running{}
	cmd := c.tried(&cobra.Command{
		Use:        "run NAME --image=IMAGE --city=CODE... [-- ARGS...]",
		SuggestFor: []string{"create"},
		Short:      "Create a Workload with one container",
		Long: "Create a Workload with one container, in one placement. Arguments after -- are the arguments of the container. For more than\n" +
			"that write a manifest: --dry-run=client -o yaml prints one to begin with.",
		Example: c.Examples(`
  # Two web servers in each of two cities
  %s run web --image docker.io/library/nginx:1.27 --city DFW --city ORD --replicas 2
  # The manifest of it
  %s run web --image docker.io/library/nginx:1.27 --city DFW --dry-run=client -o yaml`),
		Args: cobra.MinimumNArgs(1),
	})
	cmd.Flags().StringVar(&o.image, "image", "", "The image of the container.")
	cmd.Flags().StringSliceVar(&o.cities, "city", nil, "A city code, such as DFW. May be repeated.")
	cmd.Flags().Int32Var(&o.replicas, "replicas", 1, "Number of Instances in each city.")
	cmd.Flags().Int32Var(&o.port, "port", 0, "The port that the container listens on. 0: none is named.")
	c.CompleteFlag(cmd, "city", command.Cities)
	o.out = command.NewOutput(cmd)
	cmd.RunE = c.Run(func(ctx context.Context, args []string) error { return c.create(ctx, o, args[0], args[1:]) })
	return cmd
}

// create creates the Workload that the flags describe.
func (c *commands) create(ctx context.Context, o *running, name string, args []string) error {
	if err := errors.Join(c.trial.check(), o.out.Check()); err != nil {
		return err
	}
	if o.image == "" || len(o.cities) == 0 {
		return errors.New("name an image with --image, and at least one city with --city, such as --city DFW")
	}
	workload := o.workload(name, args)
	if c.trial.isSent() {
		s, err := c.ConnectToProject(ctx)
		if err != nil {
			return err
		}
		workload.SetNamespace(s.Namespace)
		options := []client.CreateOption{fieldManager}
		if c.trial.serverDryRun() {
			options = append(options, client.DryRunAll)
		}
		if err := s.Project.Client.Create(ctx, workload, options...); err != nil {
			return err
		}
	}
	if o.out.IsText() {
		_, err := fmt.Fprintf(c.Streams.Out, "workload.compute.datumapis.com/%s created%s\n", name, c.trial.suffix())
		return err
	}
	return o.out.PrintObject(c.Data, workload)
}

// workload is the manifest, without what has a default.
func (o *running) workload(name string, args []string) *unstructured.Unstructured {
	container := map[string]any{"name": name, "image": o.image}
	if o.port != 0 {
		container["ports"] = []any{map[string]any{"name": "main", "port": int64(o.port)}}
	}
	if len(args) > 0 {
		container["args"] = anyOf(args)
	}
	workload := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"template": map[string]any{"spec": map[string]any{"runtime": map[string]any{
				"sandbox": map[string]any{"containers": []any{container}},
			}}},
			"placements": []any{map[string]any{
				"name": "main", "cityCodes": anyOf(o.cities), "scaleSettings": map[string]any{"minReplicas": int64(o.replicas)},
			}},
		},
	}}
	workload.SetGroupVersionKind(v1alpha.GroupVersion.WithKind("Workload"))
	workload.SetName(name)
	return workload
}

func anyOf(values []string) []any {
	result := make([]any, 0, len(values))
	for _, value := range values {
		result = append(result, value)
	}
	return result
}
