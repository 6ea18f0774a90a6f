// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/soak"
)

func hostileCommand() *cobra.Command {
	run := hostileRun{parties: []string{
		string(soak.PartyConsumer), string(soak.PartyCell), string(soak.PartyRole), string(soak.PartyUser),
		string(soak.PartyAgent), string(soak.PartyNeighbour),
	}}
	cmd := &cobra.Command{
		Use:   "hostile",
		Short: "Write at random, on a new federation, all that hostile parties may, and compare what is not theirs",
		Long: `Write at random, on a new federation, all that a consumer may who has every right in a project, and then all that an administrator of a
cell may, a consumer with the role of the documentation (without Milo), a user who may create namespaces on the hub, the agent of a cell in pull
mode, and a neighbour who may only connect. It fails when something changes that is not the party's, when a process takes too much memory, and when the party's own objects do not
recover. The seed decides all writes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP)
			defer stop()
			run.soak.Projects = []string{"hostile", "victim"}
			if !run.withoutMilo {
				run.args = soak.QuotaArgs
			}
			if !run.withoutMilo && !cmd.Flags().Changed("parties") {
				run.parties = slices.DeleteFunc(run.parties, func(party string) bool { return soak.Party(party) == soak.PartyRole })
			}
			return run.run(ctx, cmd.OutOrStdout(), run.on)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&run.folder, "folder", "", "folder of the federation (default: a new temporary one, removed after success)")
	flags.Uint64Var(&run.soak.Seed, "seed", 1, "decides all writes")
	flags.DurationVar(&run.soak.Duration, "duration", 5*time.Minute, "how long each party writes")
	flags.DurationVar(&run.soak.Pace, "pace", 75*time.Millisecond, "time from the answer of a write to the next one, of each of four writers")
	flags.DurationVar(&run.soak.Patience, "patience", 3*time.Minute, "how long after the last write project, hub and cells may disagree")
	flags.StringSliceVar(&run.parties, "parties", run.parties, "who is hostile, one after the other")
	flags.BoolVar(&run.withoutMilo, "without-milo", false, withoutMiloHelp)
	flags.BoolVar(&run.keep, "keep", false, "leave the federation running after a finding")
	return cmd
}

// hostileRun is one run of the subcommand.
type hostileRun struct {
	soakRun
	parties []string
}

// on lets the parties write, one after the other.
func (r *hostileRun) on(ctx context.Context, f *federation.Federation) error {
	if err := r.prepare(ctx, f); err != nil {
		return err
	}
	var found []error
	for _, party := range r.parties {
		h := &soak.Hostile{
			Soak: &r.soak, Party: soak.Party(party), Project: r.soak.Projects[0], Victim: r.soak.Projects[1], Cell: "ord-1", Quota: !r.withoutMilo,
		}
		h.Namespace, h.Consumer = namespace, federation.Admin
		if r.withoutMilo {
			h.Consumer = federation.Consumer // whose role is a webhook's proof; Admin has none
		}
		result, err := h.Run(ctx)
		if err != nil {
			return errors.Join(append(found, err)...)
		}
		_, _ = fmt.Fprintln(r.soak.Out, "\n"+result.String())
		if err := r.log(result); err != nil {
			return err
		}
		// If a finding exists, leftover objects are not a further finding.
		removed := h.Remove(ctx)
		if err = result.Err(); err == nil {
			err = removed
		}
		found = append(found, err)
	}
	return errors.Join(found...)
}

// log writes the log of all writes to the folder of the processes' logs.
func (r *hostileRun) log(result *soak.HostileResult) error {
	path := filepath.Join(r.folder, "log", "hostile-"+string(result.Party)+".log")
	return os.WriteFile(path, []byte(strings.Join(result.Log, "\n")+"\n"), 0o600)
}
