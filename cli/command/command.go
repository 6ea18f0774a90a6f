// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package command has what the commands of package cli share: the connection to the project and the hub, the formats of
// the output, the names of objects in arguments, completion and the exit codes.
package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Options of the command tree.
type Options struct {
	// Use is the name of the command.
	Use string
	// Flags configure the connection to the control plane that --kubeconfig names: the project's, or for an operator the
	// hub.
	Flags *genericclioptions.ConfigFlags
	// Operator makes the command read the hub and its cells, and a project through Milo's root.
	Operator bool
	// Streams are the command's input and outputs.
	Streams genericiooptions.IOStreams
	// Clock is the clock for ages and for the time of a restart.
	Clock clock.PassiveClock
	// Version is the build of the program.
	Version apimachineryversion.Info
}

// Command holds the state that the subcommands share.
type Command struct {
	Options
	// Raw are the outputs that the process has. Streams are cleaned: what is written there is text for people, and parts
	// of it come from cells, consumers and files. Raw is for what a terminal is to obey: a Screen, and the streams of a
	// container.
	Raw genericiooptions.IOStreams
	// Data is for formats that programs read.
	Data io.Writer
	// Painter colours the text for people, as flag color tells.
	Painter *terminal.Painter
	// Project and MiloKubeconfig are flags for operators.
	Project        string
	MiloKubeconfig string
}

// New returns the state of a command tree.
func New(o Options) *Command {
	c := &Command{Options: o, Raw: o.Streams, Data: reasons.EscapeWriter(o.Streams.Out), Painter: &terminal.Painter{Out: o.Streams.Out}}
	c.Streams.Out, c.Streams.ErrOut = reasons.CleanWriter(c.Painter), reasons.CleanWriter(c.Raw.ErrOut)
	return c
}

// context returns a context that ends with the first Ctrl-C, and when the reader of an output pipe is gone.
func (c *Command) context(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	return signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
}

// Run returns RunE of a subcommand.
func (c *Command) Run(action func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := c.context(cmd)
		defer stop()
		return Tell(ctx, c.nameServer(action(ctx, args)))
	}
}

// OnWorkload returns RunE of a subcommand about a Workload, which must exist.
func (c *Command) OnWorkload(out *Output, show func(context.Context, *Session, *view.Snapshot) error) func(*cobra.Command, []string) error {
	return c.Run(func(ctx context.Context, args []string) error {
		if err := out.Check(); err != nil {
			return err
		}
		s, err := c.ConnectToWorkload()
		if err != nil {
			return err
		}
		snapshot, err := s.Read(ctx, Bare(args[0]))
		if err != nil {
			return err
		}
		return show(ctx, s, snapshot)
	})
}

// Examples inserts the name of the command into examples.
func (c *Command) Examples(text string) string {
	name := "karmadactl compute --project north"
	if !c.Operator {
		name = "kubectl compute"
	}
	return strings.Trim(strings.ReplaceAll(text, "%s", name), "\n")
}

// OneArg reports a missing argument, as kubectl does.
func OneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes %s, and got %d arguments\nSee '%s -h' for help and examples", cmd.Name(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}

// TellHidden lists the kinds that are left out, on the error stream.
func (c *Command) TellHidden(s *view.Snapshot) error {
	if hidden := s.HiddenKinds(); len(hidden) > 0 {
		_, err := fmt.Fprintf(c.Streams.ErrOut, "left out, since you may not read it: %s\n", strings.Join(hidden, ", "))
		return err
	}
	return nil
}
