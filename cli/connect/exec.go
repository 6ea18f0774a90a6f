// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package connect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/stream"
)

// executing holds the flags of exec and attach.
type executing struct {
	container  string
	stdin, tty bool
	lifetime   time.Duration
}

func (o *executing) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&o.container, "container", "c", "", "Name of the container. Default: the first container.")
	flags.BoolVarP(&o.stdin, "stdin", "i", false, "Pass the standard input to the container.")
	flags.BoolVarP(&o.tty, "tty", "t", false, "Standard input is a terminal.")
	flags.DurationVar(&o.lifetime, "session-ttl", time.Hour, "Longest time of the session, from 1m to 1h.")
}

func (c *commands) execCommand() *cobra.Command {
	o := executing{}
	cmd := &cobra.Command{
		Use:   "exec (INSTANCE | WORKLOAD) [-it] [-c CONTAINER] -- COMMAND [ARGUMENT...]",
		Short: "Run a command in a container of an Instance",
		Long: "Run a command in a container of an Instance, or of the first Ready Instance of a Workload, and end with its exit code. The\n" +
			"operator must have enabled sessions, and you need `create` and `get` on instancesessions and `create` on instances/exec in the\n" +
			"project.",
		Example: c.Examples(`
  # A shell
  %s exec web-main-dfw-0 -it -- sh
  # A command
  %s exec web-main-dfw-0 -c app -- ls /data`),
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at != 1 || len(args) < 2 {
				return errors.New("exec takes the name of an Instance or of a Workload, --, and a command\nSee 'exec -h' for help and examples")
			}
			return nil
		},
		ValidArgsFunction: c.CompleteObjects(),
		RunE: c.Run(func(ctx context.Context, args []string) error {
			return c.execute(ctx, args[0], &o, v1alpha.InstanceSessionSpec{Type: v1alpha.SessionExec, Command: args[1:]})
		}),
	}
	o.addFlags(cmd)
	c.CompleteFlag(cmd, "container", command.Containers)
	return cmd
}

func (c *commands) attachCommand() *cobra.Command {
	o := executing{}
	cmd := &cobra.Command{
		Use:   "attach (INSTANCE | WORKLOAD) [-it] [-c CONTAINER]",
		Short: "Attach to the process of a container of an Instance",
		Long: "Attach to the process of a container of an Instance, or of the first Ready Instance of a Workload. The operator must have\n" +
			"enabled sessions, and you need `create` and `get` on instancesessions and `create` on instances/attach in the project.",
		Example:           c.Examples("\n  %s attach web-main-dfw-0 -c app"),
		Args:              command.OneArg("the name of an Instance or of a Workload"),
		ValidArgsFunction: c.CompleteObjects(),
		RunE: c.Run(func(ctx context.Context, args []string) error {
			return c.execute(ctx, args[0], &o, v1alpha.InstanceSessionSpec{Type: v1alpha.SessionAttach})
		}),
	}
	o.addFlags(cmd)
	c.CompleteFlag(cmd, "container", command.Containers)
	return cmd
}

// execute opens a session for a container of an Instance, and connects the streams of the command to it.
func (c *commands) execute(ctx context.Context, name string, o *executing, spec v1alpha.InstanceSessionSpec) error {
	s, err := c.ConnectToProject(ctx)
	if err != nil {
		return err
	}
	instance, err := instanceOf(ctx, s, name)
	if err != nil {
		return err
	}
	containers, err := c.containers(instance, o.container, false)
	if err != nil {
		return err
	}
	terminal := term.TTY{Out: c.Raw.Out}
	if o.stdin {
		terminal.In = c.Streams.In
	}
	// As with kubectl, the container gets a terminal only if this side has one.
	terminal.Raw = o.tty && terminal.IsTerminalIn()
	if o.tty && !terminal.Raw {
		if _, err := fmt.Fprintln(c.Streams.ErrOut, "Unable to use a TTY - input is not a terminal or the right kind of file"); err != nil {
			return err
		}
	}
	spec.InstanceRef = v1alpha.SessionInstanceReference{Name: instance.Name, UID: instance.UID}
	spec.ContainerName, spec.Stdin, spec.TTY = containers[0], o.stdin, terminal.Raw
	spec.TTLSeconds = int32(o.lifetime / time.Second) //nolint:gosec // admission bounds it
	opened, err := stream.Open(ctx, s.Project, &v1alpha.InstanceSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, GenerateName: "exec-"}, Spec: spec,
	})
	if err != nil {
		return err
	}
	defer opened.Close()
	options := remotecommand.StreamOptions{Stdout: c.Raw.Out, Tty: terminal.Raw}
	if o.stdin {
		options.Stdin = c.Streams.In
	}
	if terminal.Raw {
		if sizes := terminal.MonitorSize(terminal.GetSize()); sizes != nil {
			options.TerminalSizeQueue = windowSizes{sizes}
		}
	} else {
		options.Stderr = c.Raw.ErrOut
	}
	return terminal.Safe(func() error { return opened.Exec(ctx, options) })
}

// windowSizes returns the sizes of the user's terminal.
type windowSizes struct{ sizes term.TerminalSizeQueue }

// Next returns the next size, or nil at the end.
func (w windowSizes) Next() *remotecommand.TerminalSize {
	next := w.sizes.Next()
	if next == nil {
		return nil
	}
	return &remotecommand.TerminalSize{Width: next.Width, Height: next.Height}
}
