// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/pages"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

const (
	// tutorial is the page whose commands the demo runs, and demoProject the project in it.
	tutorial    = "docs/tutorial/first-workload.md"
	demoProject = "north"
	// demoPatience is how long commands may take to print what the page shows.
	demoPatience = 3 * time.Minute
	// lastHeading is the tutorial's part that deletes the Workload.
	lastHeading = "Delete the Workload"
)

func demoCommand() *cobra.Command {
	d := &demo{options: federation.Options{Host: true, Projects: []string{demoProject}}}
	containers := false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the tutorial on a new federation: a Workload in two cities, a broken change, and the deletion",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A closed terminal or pipe must stop the federation as Ctrl-C does.
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP, syscall.SIGPIPE)
			defer stop()
			if containers {
				d.options.Cells = cellsWithContainers()
			}
			return d.run(ctx, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&d.options.Folder, "folder", "", "folder of the federation (default: a new temporary one, removed after success)")
	cmd.Flags().BoolVar(&d.options.Detached, "keep", false, "leave the federation and the Workload running")
	cmd.Flags().BoolVar(&containers, "containers", false, containersHelp)
	cmd.Flags().BoolVar(&d.options.WithoutMilo, "without-milo", false, withoutMiloHelp)
	return cmd
}

// demo is one run of the demo.
type demo struct {
	options federation.Options
	screen  *terminal.Screen
	// heading is the last one of the tutorial that was printed.
	heading string
}

// run starts a federation, runs the tutorial on it, and stops it.
func (d *demo) run(ctx context.Context, out io.Writer) error {
	temporary := d.options.Folder == ""
	d.screen = terminal.New(terminal.Options{Out: out, Size: terminal.SizeOf(out), Now: time.Now})
	d.options.Out = d.screen
	d.screen.Headline("Start a federation: a Karmada, and two cells, DFW and ORD")
	f, err := federation.Up(ctx, d.options)
	if err != nil {
		return err
	}
	err = d.present(ctx, f)
	if d.options.Detached && ctx.Err() == nil {
		return d.keep(f, err)
	}
	d.screen.Headline("Stop everything")
	if err := errors.Join(err, f.Down(context.WithoutCancel(ctx))); err != nil {
		return fmt.Errorf("%w\nThe logs of all processes are in %s", err, filepath.Join(f.Folder(), "log"))
	}
	if temporary {
		if err := os.RemoveAll(f.Folder()); err != nil {
			return fmt.Errorf("the demo succeeded and is stopped, but its folder was not removed: %w", err)
		}
	}
	d.screen.Headline("Done in %s.", time.Since(d.screen.Start()).Round(100*time.Millisecond))
	return nil
}

// present enables the add-on, and runs the tutorial.
func (d *demo) present(ctx context.Context, f *federation.Federation) error {
	d.screen.Headline("karmadactl addons enable karmada-compute: %d replicas on the host, an agent in each cell", replicas)
	if _, err := f.StartAddOn(ctx, federation.AddOnOptions{Replicas: replicas}); err != nil {
		return err
	}
	d.screen.Headline("Allow project %s to use the cities, and build kubectl with the command compute", demoProject)
	if err := f.Equip(ctx, d.options.Projects, citiesOf(f)); err != nil {
		return err
	}
	if err := f.BuildDocumented(ctx); err != nil {
		return err
	}
	environment, err := f.Environment(demoProject, consumer)
	if err != nil {
		return err
	}
	page, err := d.page()
	if err != nil {
		return err
	}
	shell, err := pages.NewShell(ctx, filepath.Join(f.Folder(), "demo"), environment)
	if err != nil {
		return err
	}
	return errors.Join(d.runPage(ctx, f, page, shell), shell.Close())
}

// runPage runs the tutorial. Before its end, a Workload that runs in containers is opened by its name.
func (d *demo) runPage(ctx context.Context, f *federation.Federation, page *pages.Page, shell *pages.Shell) error {
	end := len(page.Blocks)
	if i := slices.IndexFunc(page.Blocks, func(block pages.Block) bool { return block.Heading == lastHeading }); i >= 0 {
		end = i
	}
	first, last := &pages.Page{Path: page.Path, Blocks: page.Blocks[:end]}, &pages.Page{Path: page.Path, Blocks: page.Blocks[end:]}
	if err := first.Run(ctx, shell, demoEventually, d.show); err != nil {
		return err
	}
	// A simulated node answers no request.
	if len(d.options.Cells) > 0 {
		if err := d.open(ctx, f, shell); err != nil {
			return err
		}
	}
	return last.Run(ctx, shell, demoEventually, d.show)
}

// page returns the tutorial, with the blocks that fit this federation.
func (d *demo) page() (*pages.Page, error) {
	repository, err := tools.FindRepository()
	if err != nil {
		return nil, err
	}
	page, err := pages.Read(filepath.Join(repository, tutorial))
	if err != nil {
		return nil, err
	}
	page.Path = tutorial
	page.Blocks = slices.DeleteFunc(page.Blocks, func(block pages.Block) bool {
		return d.options.WithoutMilo && strings.Contains(block.Commands, "locationbindings") ||
			d.options.Detached && block.Heading == lastHeading
	})
	if len(d.options.Cells) > 0 {
		for i := range page.Blocks {
			page.Blocks[i].Commands = inContainers.Replace(page.Blocks[i].Commands)
		}
	}
	return page, nil
}

// inContainers gives the Workload of the tutorial an image that nodes with containers have, and a small size.
var inContainers = strings.NewReplacer(
	"image: docker.io/library/nginx:1.27\n", "image: "+federation.TestImage+"\n            args: [--port=80, --log=1s]\n",
	"instanceType: datumcloud-d1-standard-2\n", "instanceType: datumcloud-d1-standard-2\n          requests: {cpu: 50m, memory: 64Mi}\n",
)

// show shows the commands of a block, and what they have printed, below the heading that the tutorial has for them.
func (d *demo) show(block *pages.Block, printed string) {
	if block.Heading != d.heading {
		d.screen.Headline("%s", block.Heading)
		d.heading = block.Heading
	}
	for line := range strings.SplitSeq("$ "+strings.TrimSpace(block.Commands)+"\n"+strings.TrimSpace(printed), "\n") {
		d.screen.Line("  %s", line)
	}
}

func demoEventually(ctx context.Context, check func(context.Context) error) error {
	return federation.Await(ctx, 200*time.Millisecond, demoPatience, check)
}

// keep prints how to use the federation and how to stop it, after a failure, too.
func (d *demo) keep(f *federation.Federation, failure error) error {
	down := "go run ./hack/federation down --folder " + f.Folder()
	if failure != nil {
		return fmt.Errorf("%w\nThe federation is left running, with its logs in %s; stop it with: %s", failure,
			filepath.Join(f.Folder(), "log"), down)
	}
	d.screen.Headline("The federation and the Workload are left running")
	if err := printKubeconfigs(f, d.options); err != nil {
		return err
	}
	// The machine may have no kubectl: env gives the shell one, with the command compute.
	d.screen.Line("\nTry, in this folder:")
	d.screen.Line(`  eval "$(go run ./hack/federation env --folder %s)"`, f.Folder())
	d.screen.Line("  kubectl compute tree web -w")
	d.screen.Line("  kubectl compute ui")
	d.screen.Line("  %s", down)
	return nil
}
