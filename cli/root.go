// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is the command tree `compute` of karmadactl, and the kubectl plugin kubectl-compute. It reads and writes
// only through the API servers.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/clock"
	"k8s.io/utils/exec"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/wire"
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

// command holds the state that the subcommands share.
type command struct {
	Options
	// raw are the outputs that the process has. Streams are cleaned: what is written there is text for people, and parts
	// of it come from cells, consumers and files. raw is for what a terminal is to obey: a Screen, and the streams of a
	// container.
	raw genericiooptions.IOStreams
	// data is for formats that programs read.
	data io.Writer
	// painter colours the text for people, as flag color tells.
	painter *terminal.Painter
	color   string
	// project and miloKubeconfig are flags for operators.
	project        string
	miloKubeconfig string
	// trial has the flags of commands that change something.
	trial trial
	// cellConfig is replaced by tests: their API servers do not have Karmada's proxy.
	cellConfig func(hub *rest.Config, cell string) *rest.Config
}

// New returns the command tree.
func New(o Options) *cobra.Command { return newCommand(&command{Options: o, cellConfig: cellConfig}) }

func newCommand(c *command) *cobra.Command {
	c.raw, c.data = c.Streams, reasons.EscapeWriter(c.Streams.Out)
	c.painter = &terminal.Painter{Out: c.raw.Out}
	c.Streams.Out, c.Streams.ErrOut = reasons.CleanWriter(c.painter), reasons.CleanWriter(c.raw.ErrOut)
	root := &cobra.Command{
		Use:           c.Use,
		Short:         "See and change Workloads and where they run",
		Long:          "See and change Workloads and where they run.\n\n" + c.about(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			// The command itself reports the errors that client-go's informers log.
			log.SetLogger(logr.Discard())
			c.painter.On, err = terminal.HasColor(c.color, c.raw.Out)
			return err
		},
	}
	root.SetIn(c.Streams.In)
	root.SetOut(c.Streams.Out)
	root.SetErr(c.Streams.ErrOut)
	root.AddCommand(c.runCommand(), c.listCommand(), c.treeCommand(), c.explainCommand(), c.eventsCommand(), c.restartCommand(),
		c.scaleCommand(), c.setCommand(), c.rolloutCommand(), c.convertCommand(), c.logsCommand(), c.execCommand(), c.attachCommand(),
		c.portForwardCommand(), c.uiCommand(),
		c.versionCommand())
	if !c.Operator {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl compute"}
		c.Flags.AddFlags(root.PersistentFlags())
		c.addColor(root, root.PersistentFlags())
		return root
	}
	root.AddCommand(c.statusCommand())
	for _, cmd := range root.Commands() {
		// karmadactl does not show the flags of a command's parents.
		for _, leaf := range append(cmd.Commands(), cmd) {
			c.addOperatorFlags(leaf.Flags())
			c.addColor(leaf, leaf.Flags())
		}
	}
	return root
}

func (c *command) about() string {
	if c.Operator {
		return "--kubeconfig leads to the hub, the karmada-apiserver, and --project names the project. With --milo-kubeconfig " +
			"the project itself is\n" +
			"read as well; without it what the hub has of it is shown."
	}
	return "--kubeconfig leads to your project. Objects that you may not read are left out."
}

func (c *command) addColor(cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.StringVar(&c.color, "color", terminal.ColorAuto, "Colour of states. One of: ("+strings.Join(terminal.ColorChoices(), ", ")+
		"). auto is colour on a terminal, unless NO_COLOR is set.")
	_ = cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(terminal.ColorChoices(), cobra.ShellCompDirectiveNoFileComp))
}

func (c *command) addOperatorFlags(flags *pflag.FlagSet) {
	flags.StringVar(c.Flags.KubeConfig, "kubeconfig", *c.Flags.KubeConfig, "Path to the kubeconfig of the hub.")
	flags.StringVar(c.Flags.Context, "karmada-context", *c.Flags.Context, "The context to use in the kubeconfig of the hub.")
	flags.StringVarP(c.Flags.Namespace, "namespace", "n", *c.Flags.Namespace, "The namespace in the project.")
	flags.StringVar(&c.project, "project", "", "The name of the project: of the Project at Milo or, without Milo, of the namespace.")
	flags.StringVar(&c.miloKubeconfig, "milo-kubeconfig", "",
		"Path to a kubeconfig of Milo's root, for access to the project. No effect without Milo.")
}

// context returns a context that ends with the first Ctrl-C, and when the reader of an output pipe is gone.
func (c *command) context(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	return signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
}

// run returns RunE of a subcommand.
func (c *command) run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := c.context(cmd)
		defer stop()
		return tell(ctx, do(ctx, args))
	}
}

// onWorkload returns RunE of a subcommand about a Workload, which must exist.
func (c *command) onWorkload(out *output, do func(context.Context, *session, *view.Snapshot) error) func(*cobra.Command, []string) error {
	return c.run(func(ctx context.Context, args []string) error {
		if err := out.check(); err != nil {
			return err
		}
		s, err := c.connectToWorkload()
		if err != nil {
			return err
		}
		snapshot, err := s.read(ctx, bare(args[0]))
		if err != nil {
			return err
		}
		return do(ctx, s, snapshot)
	})
}

// timeout bounds a request, so that the user does not wait forever for a control plane that does not answer.
const timeout = 32 * time.Second

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

// Exit codes in addition to 0, and 1 for an error. cmd/util.CheckErr of kubectl ends the process with them.
const (
	// exitNotReady: the command succeeded, and the object that it examined is not Ready.
	exitNotReady = 2
	// exitInterrupted is the exit code of a process that SIGINT ends.
	exitInterrupted = 130
)

// ended is an error that ends the process without a message.
func ended(code int) error { return exec.CodeExitError{Err: errors.New(""), Code: code} }

// tell converts errors to what users of kubectl expect: an interruption is silent, a closed pipe is not an error, and
// the message names a control plane that cannot be reached.
func tell(ctx context.Context, err error) error {
	var unreached *url.Error
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return nil
	case ctx.Err() != nil:
		return ended(exitInterrupted)
	case errors.As(err, &unreached):
		if message, known := util.StandardErrorMessage(unreached); known {
			return errors.New(message)
		}
	}
	return err
}

// completionTimeout bounds how long a shell waits.
const completionTimeout = 3 * time.Second

// completeWorkloads completes the name of a Workload.
func (c *command) completeWorkloads(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, _ := c.names(cmd)
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeObjects completes the name of a Workload or an Instance.
func (c *command) completeObjects(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	workloads, instances := c.names(cmd)
	return append(workloads, instances...), cobra.ShellCompDirectiveNoFileComp
}

// names returns the names of the Workloads and Instances in the namespace. Objects that cannot be read are not
// completed.
func (c *command) names(cmd *cobra.Command) (workloads, instances []string) {
	ctx, stop := c.context(cmd)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	s, err := c.connectToWorkload()
	if err != nil {
		return nil, nil
	}
	if s.project == nil {
		return c.namesOnHub(ctx, s)
	}
	list := &v1alpha.WorkloadList{}
	if err := s.project.Client.List(ctx, list, client.InNamespace(s.namespace)); err == nil {
		for i := range list.Items {
			workloads = append(workloads, list.Items[i].Name)
		}
	}
	found := &v1alpha.InstanceList{}
	if err := s.project.Client.List(ctx, found, client.InNamespace(s.namespace)); err == nil {
		for i := range found.Items {
			instances = append(instances, found.Items[i].Name)
		}
	}
	return workloads, instances
}

func (c *command) namesOnHub(ctx context.Context, s *session) (workloads, instances []string) {
	copies := &v1alpha.WorkloadDeploymentList{}
	if err := s.hub.Client.List(ctx, copies, ofProject(s)); err != nil {
		return nil, nil
	}
	for i := range copies.Items {
		workloads = append(workloads, copies.Items[i].Spec.WorkloadRef.Name)
		for _, index := range slices.Sorted(maps.Keys(wire.FactsOf(&copies.Items[i]))) {
			instances = append(instances, naming.InstanceName(copies.Items[i].Name, index))
		}
	}
	slices.Sort(workloads)
	return slices.Compact(workloads), instances
}

// ofProject selects the hub's copies of a project's namespace.
func ofProject(s *session) client.MatchingLabels {
	return client.MatchingLabels{v1alpha.LabelProject: naming.ProjectLabel(s.projectName), v1alpha.LabelProjectNamespace: s.namespace}
}
