// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is the command tree `compute` of karmadactl, and the kubectl plugin kubectl-compute. It reads and writes
// only through the API servers.
package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/cli/change"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/connect"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/ui"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Options of the command tree.
type Options = command.Options

// commands holds what the commands of this package share.
type commands struct {
	*command.Command
	// cellConfig is replaced by tests: their API servers do not have Karmada's proxy.
	cellConfig func(hub *rest.Config, cell string) *rest.Config
}

// New returns the command tree.
func New(o Options) *cobra.Command { return newCommand(o, command.CellConfig) }

func newCommand(o Options, cellConfig func(hub *rest.Config, cell string) *rest.Config) *cobra.Command {
	c := &commands{Command: command.New(o), cellConfig: cellConfig}
	color := ""
	root := command.Parent(&cobra.Command{
		Use:           c.Use,
		Short:         "See and change Workloads and where they run",
		Long:          "See and change Workloads and where they run.\n\n" + c.about(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			// The command itself reports the errors that client-go's informers log.
			log.SetLogger(logr.Discard())
			c.Painter.On, err = terminal.HasColor(color, c.Raw.Out)
			return err
		},
	})
	root.SetIn(c.Streams.In)
	root.SetOut(c.Streams.Out)
	root.SetErr(c.Streams.ErrOut)
	root.AddCommand(c.listCommand(), c.treeCommand(), c.explainCommand(), c.convertCommand(), c.versionCommand(), ui.Command(c.Command))
	root.AddCommand(change.Commands(c.Command)...)
	root.AddCommand(connect.Commands(c.Command)...)
	if !c.Operator {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl compute"}
		c.Flags.AddFlags(root.PersistentFlags())
		addColor(&color, root, root.PersistentFlags())
		return root
	}
	root.AddCommand(c.statusCommand(), c.adoptCommand())
	for _, cmd := range root.Commands() {
		// karmadactl does not show the flags of a command's parents.
		for _, leaf := range append(cmd.Commands(), cmd) {
			c.addOperatorFlags(leaf.Flags())
			addColor(&color, leaf, leaf.Flags())
		}
	}
	return root
}

func (c *commands) about() string {
	if c.Operator {
		return "--kubeconfig leads to the hub, the karmada-apiserver, and --project names the project. With --milo-kubeconfig " +
			"the project itself is\n" +
			"read as well; without it what the hub has of it is shown."
	}
	return "--kubeconfig leads to your project. Objects that you may not read are left out."
}

func addColor(color *string, cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.StringVar(color, "color", terminal.ColorAuto, "Colour of states. One of: ("+strings.Join(terminal.ColorChoices(), ", ")+
		"). auto is colour on a terminal, unless NO_COLOR is set.")
	_ = cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(terminal.ColorChoices(), cobra.ShellCompDirectiveNoFileComp))
}

func (c *commands) addOperatorFlags(flags *pflag.FlagSet) {
	flags.StringVar(c.Flags.KubeConfig, "kubeconfig", *c.Flags.KubeConfig, "Path to the kubeconfig of the hub.")
	flags.StringVar(c.Flags.Context, "karmada-context", *c.Flags.Context, "The context to use in the kubeconfig of the hub.")
	flags.StringVarP(c.Flags.Namespace, "namespace", "n", *c.Flags.Namespace, "The namespace in the project.")
	flags.StringVar(&c.Project, "project", "", "The name of the project; where projects are namespaces of the hub, of the namespace.")
	flags.StringVar(&c.MiloKubeconfig, "milo-kubeconfig", "",
		"Path to a kubeconfig of Milo's root, for access to the project. No effect without Milo.")
}

// CleanErrors makes util.CheckErr print errors as the commands print all other text: parts of a message come from
// cells, consumers and files.
func CleanErrors(errOut io.Writer, exit func(code int)) {
	util.BehaviorOnFatal(func(message string, code int) {
		if message != "" {
			fmt.Fprintln(reasons.CleanWriter(errOut), strings.TrimSuffix(message, "\n"))
		}
		exit(code)
	})
}
