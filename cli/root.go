// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is the command tree `compute` of karmadactl, and the plugin kubectl-compute of kubectl. It reads and writes through
// the API servers alone.
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/cli/view"
)

// Options of the command tree.
type Options struct {
	// Use is the name of the command.
	Use string
	// Flags say where the control plane is that --kubeconfig names: the project's, or for an operator the hub.
	Flags *genericclioptions.ConfigFlags
	// Operator has the command read the hub and its cells, and a project through Milo's root.
	Operator bool
	// Streams are where it reads and writes.
	Streams genericiooptions.IOStreams
	// Clock tells how long ago something was, and when a restart was asked for.
	Clock clock.PassiveClock
}

// command is the state that the subcommands share.
type command struct {
	Options
	// project and miloKubeconfig are flags of an operator.
	project        string
	miloKubeconfig string
	// cellConfig is replaced by tests: no API server of theirs has Karmada's proxy.
	cellConfig func(hub *rest.Config, cell string) *rest.Config
}

// New makes the command tree.
func New(o Options) *cobra.Command { return newCommand(&command{Options: o, cellConfig: cellConfig}) }

func newCommand(c *command) *cobra.Command {
	root := &cobra.Command{
		Use:           c.Use,
		Short:         "See and change Workloads and where they run",
		Long:          "See and change Workloads and where they run.\n\n" + c.about(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(*cobra.Command, []string) {
			// The informers of client-go have nothing to tell a user that the command does not tell.
			log.SetLogger(logr.Discard())
		},
	}
	root.SetIn(c.Streams.In)
	root.SetOut(c.Streams.Out)
	root.SetErr(c.Streams.ErrOut)
	root.AddCommand(c.treeCommand(), c.explainCommand(), c.eventsCommand(), c.restartCommand(), c.scaleCommand(), c.rolloutCommand(), c.convertCommand(),
		c.logsCommand(), c.execCommand(), c.attachCommand(), c.portForwardCommand())
	if !c.Operator {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl compute"}
		c.Flags.AddFlags(root.PersistentFlags())
		return root
	}
	root.AddCommand(c.statusCommand())
	for _, cmd := range root.Commands() {
		// karmadactl shows flags of a command's parents nowhere.
		for _, leaf := range append(cmd.Commands(), cmd) {
			c.addOperatorFlags(leaf.Flags())
		}
	}
	return root
}

func (c *command) about() string {
	if c.Operator {
		return "--kubeconfig leads to the hub, the karmada-apiserver, and --project names the project. With --milo-kubeconfig the project itself is\n" +
			"read as well; without it what the hub has of it is shown."
	}
	return "--kubeconfig leads to your project. Objects that you may not read are left out."
}

func (c *command) addOperatorFlags(flags *pflag.FlagSet) {
	flags.StringVar(c.Flags.KubeConfig, "kubeconfig", *c.Flags.KubeConfig, "Path to the kubeconfig of the hub.")
	flags.StringVar(c.Flags.Context, "karmada-context", *c.Flags.Context, "The context to use in the kubeconfig of the hub.")
	flags.StringVarP(c.Flags.Namespace, "namespace", "n", *c.Flags.Namespace, "The namespace in the project.")
	flags.StringVar(&c.project, "project", "", "The name of the project at Milo.")
	flags.StringVar(&c.miloKubeconfig, "milo-kubeconfig", "", "Path to a kubeconfig of Milo's root, for access to the project.")
}

// context ends with the first Ctrl-C, and when whoever reads the output of a pipe has gone.
func (c *command) context(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	return signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
}

// run makes RunE of a subcommand.
func (c *command) run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := c.context(cmd)
		defer stop()
		return tell(ctx, do(ctx, args))
	}
}

// onWorkload makes RunE of a subcommand that is about a Workload, which must exist.
func (c *command) onWorkload(out *output, do func(context.Context, *session, *view.Snapshot) error) func(*cobra.Command, []string) error {
	return c.run(func(ctx context.Context, args []string) error {
		if err := out.check(); err != nil {
			return err
		}
		s, err := c.connectToWorkload()
		if err != nil {
			return err
		}
		snapshot, err := s.read(ctx, args[0])
		if err != nil {
			return err
		}
		return do(ctx, s, snapshot)
	})
}

// timeout bounds a request; a control plane that does not answer must not hold the user up for ever.
const timeout = 32 * time.Second
