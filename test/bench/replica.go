// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/milo"
)

// The compared kinds of replicas, names of hidden subcommands.
const (
	oursReplica   = "ours"
	cachesReplica = "cache-per-project"
)

// cities returns the cities that a project may use, the most frequent lookup of admission.
type cities func(ctx context.Context, project string) ([]string, error)

// starter starts a replica and returns when it is ready. say reports progress to the parent.
type starter func(ctx context.Context, root *rest.Config, say func(format string, args ...any)) (cities, error)

func oursCommand() *cobra.Command { return replicaCommand(oursReplica, startOurs) }

// startOurs makes the Lookup of the add-on.
func startOurs(ctx context.Context, root *rest.Config, _ func(string, ...any)) (cities, error) {
	lookup, err := milo.NewLookup(milo.LookupOptions{Root: root, Clock: clock.RealClock{}})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, name string) ([]string, error) {
		project, err := lookup.Project(ctx, name)
		if err != nil {
			return nil, err
		}
		codes, _, err := lookup.CityCodes(ctx, project)
		return codes, err
	}, lookup.Probe(ctx)
}

func cachesCommand() *cobra.Command { return replicaCommand(cachesReplica, startCaches) }

// replicaFlags are the flags of a replica.
type replicaFlags struct {
	milo, ca          string
	projects, lookups int
}

func replicaCommand(name string, start starter) *cobra.Command {
	var o replicaFlags
	cmd := &cobra.Command{
		Use: name, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, start) },
	}
	cmd.Flags().StringVar(&o.milo, "milo", "", "address of Milo")
	cmd.Flags().StringVar(&o.ca, "ca", "", "file with Milo's CA")
	cmd.Flags().IntVar(&o.projects, "projects", 0, "how many projects Milo has")
	cmd.Flags().IntVar(&o.lookups, "lookups", 0, "how many lookups to do")
	return cmd
}

// run reports "ready", looks up cities on command, reports how long that took, and ends with its parent.
func (o *replicaFlags) run(cmd *cobra.Command, start starter) error {
	ctx, told, cancel := parent(cmd.Context(), cmd.InOrStdin())
	defer cancel()
	ca, err := os.ReadFile(o.ca)
	if err != nil {
		return fmt.Errorf("read Milo's CA: %w", err)
	}
	root := &rest.Config{Host: "https://" + o.milo, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
	say := func(format string, args ...any) { fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...) }
	lookup, err := start(ctx, root, say)
	if err != nil {
		return err
	}
	say("ready")
	select {
	case <-ctx.Done():
		return nil
	case <-told:
	}
	if err := o.lookUp(ctx, cmd.OutOrStdout(), lookup); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// lookupTimes are the durations of lookups.
type lookupTimes struct{ P50, P99 time.Duration }

func (o *replicaFlags) lookUp(ctx context.Context, out io.Writer, lookup cities) error {
	var all samples
	for range o.lookups {
		name := projectName(rand.Intn(o.projects))
		began := time.Now()
		codes, err := lookup(ctx, name)
		if err != nil {
			return fmt.Errorf("look up %s: %w", name, err)
		}
		all.add(time.Since(began))
		if len(codes) != 1 || codes[0] != city {
			return fmt.Errorf("look up %s: its cities are %v, want %s", name, codes, city)
		}
	}
	s := all.summary()
	text, err := json.Marshal(lookupTimes{P50: s.p50, P99: s.p99})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "looked-up %s\n", text)
	return err
}
