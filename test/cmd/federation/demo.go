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
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/soak"
)

// replicas is the number of replicas of the hub binary: two show that it needs no leader.
const replicas = 2

// scaledPlacement is the placement of the sample that the demo scales to scaledReplicas.
const (
	scaledPlacement = "illinois"
	scaledReplicas  = 4
)

func demoCommand() *cobra.Command {
	var (
		folder           string
		keep, containers bool
		withoutMilo      bool
	)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a Workload in two cities on a new federation, then delete it and stop the federation",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A closed terminal or pipe must stop the federation as Ctrl-C does.
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP, syscall.SIGPIPE)
			defer stop()
			d := &demo{folder: folder, keep: keep, withoutMilo: withoutMilo, sample: sample{containers: containers}}
			return d.runIn(ctx, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&folder, "folder", "", "folder of the federation (default: a new temporary one, removed after success)")
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the federation and the Workload running")
	cmd.Flags().BoolVar(&containers, "containers", false, containersHelp)
	cmd.Flags().BoolVar(&withoutMilo, "without-milo", false, withoutMiloHelp)
	return cmd
}

// demo is one run of the demo.
type demo struct {
	screen *terminal.Screen
	folder string
	keep   bool
	// withoutMilo reports that the project is a namespace of the hub.
	withoutMilo bool
	sample      sample

	federation *federation.Federation
	log        io.Closer
	// read reads the objects of the project in every plane.
	read func(context.Context) ([]*soak.View, error)
	// running are the counts while the Workload ran, which are shown next to the counts after its deletion.
	running []leftover
}

// runIn runs the demo, in a temporary folder if it has none.
func (d *demo) runIn(ctx context.Context, out io.Writer) error {
	temporary := d.folder == ""
	if temporary {
		var err error
		if d.folder, err = os.MkdirTemp("", "federation-demo-"); err != nil {
			return fmt.Errorf("create a folder for the federation, or name one with --folder: %w", err)
		}
	}
	d.screen = terminal.New(terminal.Options{Out: out, Size: terminal.SizeOf(out), Now: time.Now})
	err := d.run(ctx)
	stopped, stopErr := d.stop(ctx, err)
	if err := errors.Join(err, stopErr); err != nil {
		return d.explain(ctx, err, stopped)
	}
	if stopped && temporary {
		if err := os.RemoveAll(d.folder); err != nil {
			return fmt.Errorf("the demo succeeded and is stopped, but its folder was not removed: %w", err)
		}
	}
	d.screen.Headline("Done in %s.", time.Since(d.screen.Start()).Round(100*time.Millisecond))
	return nil
}

// run runs the steps in order.
func (d *demo) run(ctx context.Context) error {
	steps := []struct {
		headline string
		do       func(context.Context) error
	}{
		{d.parts() + " in " + d.folder, d.boot},
		{fmt.Sprintf("karmadactl addons enable karmada-compute: %d replicas on the host, an agent in each cell", replicas), d.startAddOn},
		{d.projectHeadline(), d.makeProject},
		{"Create the Workload as " + consumer + " and follow it in the project", d.createWorkload},
		{fmt.Sprintf("Scale placement %s to %d", scaledPlacement, scaledReplicas), d.scaleWorkload},
		{"Delete the Workload", d.deleteWorkload},
		{"Count the objects that are left", d.findLeftovers},
	}
	if d.keep {
		steps = steps[:len(steps)-2]
	}
	for i, step := range steps {
		d.screen.Headline("%d/%d  %s", i+1, len(steps), step.headline)
		if err := step.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) boot(ctx context.Context) error {
	options := federation.Options{
		Folder: d.folder, Projects: []string{}, WithoutMilo: d.withoutMilo, Host: true, Detached: d.keep, Out: d.screen,
	}
	if d.sample.containers {
		options.Cells = cellsWithContainers()
	}
	var err error
	d.federation, err = federation.Up(ctx, options)
	if err != nil {
		return err
	}
	d.log, err = logTo(filepath.Join(d.folder, "log", "demo.log"))
	return err
}

func (d *demo) startAddOn(ctx context.Context) error {
	_, err := d.federation.StartAddOn(ctx, federation.AddOnOptions{Replicas: replicas})
	return err
}

// wanted returns the consumer's client of the project, and the sample Workload.
func (d *demo) wanted() (client.Client, *v1alpha.Workload, error) {
	workload, err := d.sample.workload()
	if err != nil {
		return nil, nil, err
	}
	workload.Namespace = d.federation.NamespaceIn(projectName)
	c, err := soak.NewClient(d.federation, project, consumer)
	return c, workload, err
}

func (d *demo) createWorkload(ctx context.Context) error {
	c, workload, err := d.wanted()
	if err != nil {
		return err
	}
	if err := c.Create(ctx, workload); err != nil {
		return fmt.Errorf("create the Workload: %w", err)
	}
	return d.followUntilReady(ctx, wanted(workload))
}

func (d *demo) scaleWorkload(ctx context.Context) error {
	c, workload, err := d.wanted()
	if err != nil {
		return err
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(workload), workload); err != nil {
			return err
		}
		scale(workload)
		return c.Update(ctx, workload)
	})
	if err != nil {
		return fmt.Errorf("scale the Workload: %w", err)
	}
	return d.followUntilReady(ctx, wanted(workload))
}

func scale(workload *v1alpha.Workload) {
	for i := range workload.Spec.Placements {
		if placement := &workload.Spec.Placements[i]; placement.Name == scaledPlacement {
			placement.ScaleSettings.MinReplicas = scaledReplicas
		}
	}
}

func (d *demo) deleteWorkload(ctx context.Context) error {
	c, workload, err := d.wanted()
	if err != nil {
		return err
	}
	if d.running, err = d.countLeftovers(ctx); err != nil {
		return fmt.Errorf("count the Workload's objects: %w", err)
	}
	if err := c.Delete(ctx, workload); err != nil {
		return fmt.Errorf("delete the Workload: %w", err)
	}
	return d.follow(ctx, "nothing of the Workload is left in the project", (*view.Snapshot).Gone)
}

// stop stops the federation, unless KEEP is set and ctx has not ended. It reports whether everything is stopped.
func (d *demo) stop(ctx context.Context, failure error) (bool, error) {
	if d.log != nil {
		defer func() { _ = d.log.Close() }() // logging has ended
	}
	if d.federation == nil {
		return true, nil // Up has stopped what it started
	}
	if d.keep && ctx.Err() == nil {
		if failure != nil {
			return false, nil
		}
		return false, d.explainKept()
	}
	d.screen.Headline("Stop everything")
	if err := d.federation.Down(context.WithoutCancel(ctx)); err != nil {
		return false, fmt.Errorf("stop the federation in %s: %w", d.folder, err)
	}
	d.screen.Line("  all processes are stopped")
	return true, nil
}

// explain adds to an error where the logs are and whether the federation may still be running.
func (d *demo) explain(ctx context.Context, err error, stopped bool) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	if stopped {
		return fmt.Errorf("%w\nEverything is stopped. The logs of all processes are in %s", err, filepath.Join(d.folder, "log"))
	}
	return fmt.Errorf("%w\nThe federation may still be running; stop it with: %s\nThe logs of all processes are in %s",
		err, d.downCommand(), filepath.Join(d.folder, "log"))
}

func (d *demo) downCommand() string { return "go run ./hack/federation down --folder " + d.folder }

// explainKept prints the kubeconfigs of a federation that was left running, and commands to try.
func (d *demo) explainKept() error {
	planes := []struct{ name, user string }{{project, consumer}, {"hub", federation.Admin}}
	for _, cell := range d.federation.Cells() {
		planes = append(planes, struct{ name, user string }{"cell/" + cell.Name, federation.Admin})
	}
	d.screen.Headline("The federation and the Workload are left running. Kubeconfigs:")
	paths := map[string]string{}
	for _, plane := range planes {
		path, err := d.federation.Kubeconfig(plane.name, plane.user)
		if err != nil {
			return err
		}
		paths[plane.name] = path
		if err := printRow(d.screen, plane.name, path); err != nil {
			return err
		}
	}
	// The machine may have no kubectl: env gives the shell one, with the command compute.
	d.screen.Line("\nTry, in this folder:")
	d.screen.Line(`  eval "$(go run ./hack/federation env --folder %s --project %s)"`, d.folder, projectName)
	d.screen.Line("  kubectl get compute")
	d.screen.Line("  kubectl compute tree web -w")
	d.screen.Line("  kubectl --kubeconfig %s get propagationpolicies -A", paths["hub"])
	d.screen.Line("  %s", d.downCommand())
	return nil
}
