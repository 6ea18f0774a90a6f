// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

func upCommand() *cobra.Command {
	var (
		options    federation.Options
		addOn      bool
		released   string
		containers bool
		names      bool
	)
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a federation and leave it running",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Out, options.Detached = cmd.OutOrStdout(), true
			if containers {
				options.Cells = cellsWithContainers()
			}
			switch {
			case !addOn && names:
				return errors.New("--dns: use it with --add-on, which has the names")
			case !addOn:
				return up(cmd.Context(), options, starts{})
			}
			return up(cmd.Context(), options, starts{&federation.AddOnOptions{Released: released, Sessions: containers}, names})
		},
	}
	folderFlag(cmd, &options.Folder)
	cmd.Flags().StringSliceVar(&options.Projects, "projects", []string{"north", "south"}, "projects to create")
	cmd.Flags().BoolVar(&options.WithoutMilo, "without-milo", false, withoutMiloHelp)
	cmd.Flags().StringVar(&options.CRDs, "crds", "", "folder of CRDs to install in every control plane (default: api/crds of the checkout)")
	cmd.Flags().StringVar(&options.KarmadaVersion, "karmada-version", "",
		"minor version of Karmada, such as 1.17, or the absolute path of a checkout of Karmada (default: the version in go.mod)")
	cmd.Flags().StringVar(&options.CellKubernetesVersion, "cell-kubernetes-version", "",
		"minor version of Kubernetes in the cells, such as 1.26 (default: the version in go.mod)")
	cmd.Flags().BoolVar(&options.Host, "host", false, "add the host, and nodes that run Pods as processes to the host and to every cell")
	cmd.Flags().BoolVar(&containers, "containers", false, containersHelp)
	cmd.Flags().BoolVar(&addOn, "add-on", false,
		"build karmada-compute and start it in the federation, and let user consumer write Workloads in the projects")
	cmd.Flags().BoolVar(&names, "dns", false,
		"with --add-on: give the cells load balancers, and start CoreDNS and external-dns for the names of Workloads")
	cmd.Flags().StringVar(&released, "released", "",
		"with --add-on: folder with karmadactl, karmada-compute and karmada-compute-cell of a release, instead of those of the checkout")
	return cmd
}

const withoutMiloHelp = "start no Milo: projects are namespaces of the hub"

const containersHelp = "give each cell a node that runs containers instead of nodes that simulate them; they have the image " +
	federation.TestImage

// cellsWithContainers are the default cells, each with a node that runs containers.
func cellsWithContainers() []federation.Cell {
	return []federation.Cell{{Name: "dfw", City: "DFW", Containers: 1}, {Name: "ord", City: "ORD", Containers: 1}}
}

// starts has the parts that a new federation runs besides its planes.
type starts struct {
	// addOn has the add-on's options; nil: it is not started.
	addOn *federation.AddOnOptions
	// names: names of Workloads are answered.
	names bool
}

// up starts a federation.
func up(ctx context.Context, options federation.Options, with starts) error {
	options.Host = options.Host || with.addOn != nil
	f, err := federation.Up(ctx, options)
	if err != nil {
		return err
	}
	server, err := with.start(ctx, f, options.Projects)
	if err != nil {
		return errors.Join(err, f.Down(context.WithoutCancel(ctx)))
	}
	if err := printKubeconfigs(f, options); err != nil || server == "" {
		return err
	}
	return printRow(options.Out, "DNS", server+", which answers "+federation.NamesPattern)
}

// start starts it, and returns the address of the DNS server, if there is one.
func (s starts) start(ctx context.Context, f *federation.Federation, projects []string) (server string, err error) {
	if s.addOn == nil {
		return "", nil
	}
	if _, err := f.StartAddOn(ctx, *s.addOn); err != nil {
		return "", err
	}
	if err := f.Equip(ctx, projects, citiesOf(f)); err != nil || !s.names {
		return "", err
	}
	named, err := startNames(ctx, f)
	if err != nil {
		return "", err
	}
	return named.Server(), nil
}

// printKubeconfigs prints the paths of the admin's kubeconfigs, and of the logs.
func printKubeconfigs(f *federation.Federation, options federation.Options) error {
	var planes []string
	if options.Host {
		planes = append(planes, "host")
	}
	if !options.WithoutMilo {
		planes = append(planes, "milo")
	}
	for _, project := range options.Projects {
		planes = append(planes, "project/"+project)
	}
	planes = append(planes, "hub")
	for _, cell := range f.Cells() {
		planes = append(planes, "cell/"+cell.Name)
	}
	if _, err := fmt.Fprintln(options.Out, "\nKubeconfigs:"); err != nil {
		return err
	}
	for _, plane := range planes {
		path, err := f.Kubeconfig(plane, federation.Admin)
		if err != nil {
			return err
		}
		if err := printRow(options.Out, plane, path); err != nil {
			return err
		}
	}
	return printRow(options.Out, "logs", f.Folder()+"/log")
}

func printRow(out io.Writer, name, value string) error {
	_, err := fmt.Fprintf(out, "  %-16s %s\n", name, value)
	return err
}
