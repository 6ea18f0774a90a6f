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

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/planes"
	"github.com/karmada-compute/karmada-compute/test/soak"
)

func soakCommand() *cobra.Command {
	run := soakRun{soak: soak.Soak{Namespace: namespace, Consumer: consumer}}
	// Without a dash: the names of their Workloads can be no other project's, which a Gateway needs.
	run.soak.Projects = []string{"east", "west"}
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "Change Workloads on a new federation while its processes are killed, and compare project, hub and cells at the end",
		Long: `Change Workloads on a new federation while its processes are killed one after the other, and compare project, hub and cells at
the end. It fails when they still disagree some minutes after the last fault. The seed decides all operations and faults.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A closed terminal must stop the federation as Ctrl-C does. Not so SIGPIPE, which whoever asks for it gets for
			// every connection to an API server that was killed; a closed pipe ends this program, and its keeper the federation.
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP)
			defer stop()
			switch run.faults {
			case "":
				return run.run(ctx, cmd.OutOrStdout(), run.on)
			case faultsOfRollouts:
				return run.run(ctx, cmd.OutOrStdout(), run.roll)
			case faultsOfYear:
				return run.run(ctx, cmd.OutOrStdout(), run.year)
			case faultsOfSilence:
				if !cmd.Flags().Changed("down") {
					run.down = silenceTime
				}
				return run.run(ctx, cmd.OutOrStdout(), run.silence)
			}
			return fmt.Errorf("unknown value %q of --faults: use %s, %s or %s, or leave it out", run.faults,
				faultsOfRollouts, faultsOfYear, faultsOfSilence)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&run.folder, "folder", "", "folder of the federation (default: a new temporary one, removed after success)")
	flags.Uint64Var(&run.soak.Seed, "seed", 1, "decides which operations and faults happen when")
	flags.DurationVar(&run.soak.Duration, "duration", 5*time.Minute, "how long Workloads are changed and processes are killed")
	flags.DurationVar(&run.soak.Interval, "interval", 10*time.Second, "average time from one fault to the next")
	flags.DurationVar(&run.soak.Pace, "pace", 700*time.Millisecond, "average time from one operation to the next")
	flags.DurationVar(&run.soak.Patience, "patience", 3*time.Minute, "how long after the last fault project, hub and cells may disagree")
	flags.IntVar(&run.soak.Workloads, "workloads", 40, "number of Workloads")
	flags.StringSliceVar(&run.soak.Processes, "processes", soak.DefaultProcesses,
		`processes to kill, as patterns: names of "federation status", "agent/<cell>" and "replica/<number>"`)
	flags.StringVar(&run.faults, "faults", "",
		`"rollout": instead of random faults, one rollout of a Workload with a disruption budget for each process, which is down in the middle; `+
			`"year": instead of faults, the moves of an operator: overrides, other policies, taints, quotas, Pod security, cities; `+
			`"silence": while a client sends requests to a name, the control planes, controllers and agents are away, one after the other`)
	flags.DurationVar(&run.down, "down", time.Minute,
		"how long each process is down, with --faults=rollout, or each part is away, with --faults=silence (then 5m)")
	flags.StringSliceVar(&run.pull, "pull-cells", nil, "the cells that are in pull mode, of dfw, ord-1 and ord-2")
	flags.BoolVar(&run.withoutMilo, "without-milo", false, withoutMiloHelp)
	flags.BoolVar(&run.keep, "keep", false, "leave the federation running if project, hub and cells disagree at the end")
	return cmd
}

// Values of --faults: faults during rollouts, the moves of an operator, and silences.
const faultsOfRollouts, faultsOfYear, faultsOfSilence = "rollout", "year", "silence"

// silenceTime is how long each silence lasts by default.
const silenceTime = 5 * time.Minute

// soakRun is one run of the subcommand.
type soakRun struct {
	soak   soak.Soak
	faults string
	down   time.Duration
	folder string
	// pull are the cells in pull mode.
	pull []string
	keep bool
	// withoutMilo starts no Milo: projects are namespaces of the hub.
	withoutMilo bool
	// args are additional arguments of the hub binary.
	args []string
}

// silentCells are a cell in each of three cities, with containers if this machine runs them.
func (r *soakRun) silentCells(ctx context.Context) ([]federation.Cell, error) {
	if len(r.pull) > 0 {
		return nil, errors.New("--pull-cells: leave it out with --faults=silence, which interrupts the hub's way to a cell")
	}
	cells := []federation.Cell{{Name: "dfw", City: "DFW"}, {Name: "lax", City: "LAX"}, {Name: "ord", City: "ORD"}}
	if err := federation.Containers(ctx); err != nil {
		_, err = fmt.Fprintf(r.soak.Out, "the name is resolved only, and no request is sent: %v\n", err)
		return cells, err
	}
	for i := range cells {
		cells[i].Containers = 1
	}
	return cells, nil
}

// cells are one cell that is alone in its city, and two cells that share a city.
func (r *soakRun) cells(ctx context.Context) ([]federation.Cell, error) {
	if r.faults == faultsOfSilence {
		r.soak.Projects = r.soak.Projects[:1]
		return r.silentCells(ctx)
	}
	cells := []federation.Cell{{Name: "dfw", City: "DFW"}, {Name: "ord-1", City: "ORD"}, {Name: "ord-2", City: "ORD"}}
	for _, name := range r.pull {
		i := slices.IndexFunc(cells, func(cell federation.Cell) bool { return cell.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("--pull-cells: no cell is named %q: use dfw, ord-1 and ord-2", name)
		}
		cells[i].Pull = true
	}
	return cells, nil
}

// run starts a federation, executes on and stops it.
func (r *soakRun) run(ctx context.Context, out io.Writer, on func(context.Context, *federation.Federation) error) (err error) {
	temporary := r.folder == ""
	r.soak.Out = out
	cells, err := r.cells(ctx)
	if err != nil {
		return err
	}
	f, err := federation.Up(ctx, federation.Options{
		Folder: r.folder, Projects: r.soak.Projects, Cells: cells, WithoutMilo: r.withoutMilo, Host: true, Detached: r.keep, Out: out,
	})
	if err != nil {
		return err
	}
	r.folder, r.soak.Cities = f.Folder(), citiesOf(f)
	log, err := logTo(filepath.Join(r.folder, "log", "soak.log"))
	if err != nil {
		return errors.Join(err, f.Down(context.WithoutCancel(ctx)))
	}
	defer func() { _ = log.Close() }() // nothing is logged any more
	err = on(ctx, f)
	if err != nil && r.keep && ctx.Err() == nil {
		return fmt.Errorf("%w\nThe federation is left running; stop it with: go run ./hack/federation down --folder %s", err, r.folder)
	}
	if err := errors.Join(err, f.Down(context.WithoutCancel(ctx))); err != nil {
		return fmt.Errorf("%w\nThe logs of all processes are in %s", err, filepath.Join(r.folder, "log"))
	}
	if temporary {
		return os.RemoveAll(r.folder)
	}
	return nil
}

// prepare starts the add-on and prepares the projects.
func (r *soakRun) prepare(ctx context.Context, f *federation.Federation) error {
	addOn, err := f.StartAddOn(ctx, federation.AddOnOptions{Replicas: replicas, Args: r.args})
	if err != nil {
		return err
	}
	if r.soak.Planes, err = planes.New(f); err != nil {
		return err
	}
	r.soak.AddOn = addOn
	return r.admit(ctx, f, addOn)
}

// on runs the soak on a federation.
func (r *soakRun) on(ctx context.Context, f *federation.Federation) error {
	if err := r.prepare(ctx, f); err != nil {
		return err
	}
	return r.finish(ctx, r.soak.Run)
}

// year runs a soak with an operator on a federation.
func (r *soakRun) year(ctx context.Context, f *federation.Federation) error {
	if err := r.prepare(ctx, f); err != nil {
		return err
	}
	return r.finish(ctx, (&soak.Year{Soak: &r.soak}).Run)
}

// silence runs a soak of silences on a federation, and deletes its Workloads if no promise is broken.
func (r *soakRun) silence(ctx context.Context, f *federation.Federation) error {
	if !r.withoutMilo {
		r.args = soak.QuotaArgs
	}
	if err := r.prepare(ctx, f); err != nil {
		return err
	}
	silence := &soak.Silence{Year: &soak.Year{Soak: &r.soak}, Down: r.down, Containers: f.Cells()[0].Containers > 0}
	result, err := silence.Run(ctx)
	if result != nil {
		_, _ = fmt.Fprintln(r.soak.Out)
		for i := range result.Rows {
			_, _ = fmt.Fprintln(r.soak.Out, result.Rows[i].Row())
		}
		err = errors.Join(err, result.Err())
	}
	if err != nil {
		return err
	}
	return r.soak.Remove(ctx)
}

// finish prints the result of a soak, and deletes its Workloads if project, hub and cells agree.
func (r *soakRun) finish(ctx context.Context, run func(context.Context) (*soak.Result, error)) error {
	result, err := run(ctx)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(r.soak.Out, "\n"+result.String()+"\n"+result.Row())
	if longest := result.Longest; longest.Age > 0 {
		_, _ = fmt.Fprintln(r.soak.Out, "longest disagreement:", strings.TrimSpace(longest.String()))
	}
	if err := result.Err(); err != nil {
		return err
	}
	return r.soak.Remove(ctx)
}

// roll runs a rolling soak on a federation.
func (r *soakRun) roll(ctx context.Context, f *federation.Federation) error {
	if err := r.prepare(ctx, f); err != nil {
		return err
	}
	r.soak.Projects = r.soak.Projects[:1]
	faults := slices.Clone(soak.RollingFaults)
	if r.withoutMilo {
		faults = slices.DeleteFunc(faults, func(fault soak.RollingFault) bool { return slices.Contains(fault.Processes, "milo") })
	}
	results, err := (&soak.Rolling{Soak: &r.soak, Down: r.down, Faults: faults}).Run(ctx)
	failed := []error{err}
	for i := range results {
		_, _ = fmt.Fprintln(r.soak.Out, results[i].Row())
		failed = append(failed, results[i].Err())
	}
	return errors.Join(failed...)
}

// admit gives the consumer access to the projects, locations to the projects, and waits for the agents.
func (r *soakRun) admit(ctx context.Context, f *federation.Federation, addOn *federation.AddOn) error {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	if err := f.Equip(ctx, r.soak.Projects, r.soak.Cities); err != nil {
		return err
	}
	for _, cell := range f.Cells() {
		if err := addOn.WaitAgent(ctx, cell.Name); err != nil {
			return err
		}
	}
	return nil
}
