// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/cli/convert"
)

func (c *command) convertCommand() *cobra.Command {
	var file string
	var options convert.Options
	cmd := &cobra.Command{
		Use:   "convert -f FILENAME --city CITY",
		Short: "Convert Deployments and StatefulSets to Workloads",
		Long: "Convert the Deployments and StatefulSets in a file to Workloads, and print them as YAML with the ConfigMaps and Secrets in the file that\n" +
			"they name. Fields without an equivalent are listed on stderr. Nothing is sent to an API server.",
		Example: c.examples("\n  %s convert -f deployment.yaml --city DFW | kubectl apply -f -"),
		Args:    cobra.NoArgs,
		RunE: c.run(func(context.Context, []string) error {
			if file == "" {
				return errors.New("name the file in --filename; - is stdin")
			}
			if len(options.Cities) == 0 {
				return errors.New("name at least one city in --city, for example DFW")
			}
			return c.convert(file, options)
		}),
	}
	flags := cmd.Flags()
	flags.StringVarP(&file, "filename", "f", "", "The file with the objects to convert, YAML or JSON. -: stdin.")
	flags.StringSliceVar(&options.Cities, "city", nil, "The cities that the Workloads run in, for example DFW,ORD.")
	flags.StringVar(&options.Network, "network", "default", "The network that the Instances are attached to.")
	flags.StringVar(&options.InstanceType, "instance-type", "", "The instance type of the Instances. Default: the operator's default.")
	return cmd
}

func (c *command) convert(file string, options convert.Options) error {
	in := c.Streams.In
	if file != "-" {
		opened, err := os.Open(file) //nolint:gosec // the file that the user names
		if err != nil {
			return err
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	result, err := convert.Manifests(in, options)
	if err != nil {
		return fmt.Errorf("convert %s: %w", file, err)
	}
	if err := result.Print(c.data); err != nil {
		return err
	}
	if len(result.Losses) > 0 {
		fmt.Fprintln(c.Streams.ErrOut, "Not carried over:")
	}
	for _, loss := range result.Losses {
		// A name in the file is no line of its own.
		fmt.Fprintf(c.Streams.ErrOut, "  %s\n", strings.Join(strings.Fields(fmt.Sprint(loss)), " "))
	}
	return nil
}
