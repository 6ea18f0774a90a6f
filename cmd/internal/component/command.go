// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	// Registers --logging-format=json.
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Options are the flags of a binary.
type Options interface {
	// AddFlags adds the flags to the groups in which --help shows them.
	AddFlags(groups *cliflag.NamedFlagSets)
	// Validate completes the options and returns every mistake.
	Validate() error
}

// Component is a binary.
type Component struct {
	// Name of the binary.
	Name string
	// Long is the description of the binary in --help.
	Long string
	// Options are its own flags.
	Options Options
	// Run runs it until the context ends. The log is configured before.
	Run func(context.Context) error
}

// Main runs the binary with the arguments of the process and returns its exit code.
func (c *Component) Main() int {
	defer logs.FlushLogs()
	err := c.Command().ExecuteContext(ctrl.SetupSignalHandler())
	var failed *failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed):
		klog.ErrorS(failed.error, "Failed", "component", c.Name)
	default:
		// A mistake in the flags. The format of the log is not known yet, and a person probably reads the terminal.
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name, err)
	}
	return 1
}

// failure is an error of Run.
type failure struct{ error }

// Unwrap implements the interface of package errors.
func (f *failure) Unwrap() error { return f.error }

// Command returns the command with all its flags.
func (c *Component) Command() *cobra.Command {
	var wanted versionFlag
	logging := logsapi.NewLoggingConfiguration()
	command := &cobra.Command{
		Use: c.Name, Long: c.Long, Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true, DisableAutoGenTag: true,
		RunE: func(command *cobra.Command, _ []string) error {
			if wanted.requested() {
				return wanted.print(command.OutOrStdout(), c.Name, Version())
			}
			if err := errors.Join(c.Options.Validate(), checkLogging(logging)); err != nil {
				return err
			}
			if err := startLogging(logging); err != nil {
				return err
			}
			c.logStart(command.Flags())
			if err := c.Run(command.Context()); err != nil {
				return &failure{err}
			}
			return nil
		},
	}
	// As Kubernetes' components: a flag may be written with underscores.
	command.SetGlobalNormalizationFunc(cliflag.WordSepNormalizeFunc)
	var groups cliflag.NamedFlagSets
	c.Options.AddFlags(&groups)
	addLogFlags(logging, groups.FlagSet("logs"))
	globalflag.AddGlobalFlags(groups.FlagSet("global"), c.Name, logs.SkipLoggingConfigurationFlags())
	wanted.addFlag(groups.FlagSet("global"))
	for _, group := range groups.Order {
		command.Flags().AddFlagSet(groups.FlagSets[group])
	}
	columns, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		columns = 0 // no terminal: lines are not wrapped
	}
	cliflag.SetUsageAndHelpFunc(command, groups, columns)
	return command
}

// logStart logs the built version and every flag that is set. No flag has a secret as its value: credentials are in
// files, and only their paths are flags. -v=1 logs the defaults, too.
func (c *Component) logStart(flags *pflag.FlagSet) {
	set := []string{}
	flags.Visit(func(flag *pflag.Flag) { set = append(set, "--"+flag.Name+"="+flag.Value.String()) })
	built := Version()
	klog.InfoS("Starting "+c.Name, "version", built.GitVersion, "commit", built.GitCommit, "go", built.GoVersion,
		"platform", built.Platform, "flags", set)
	cliflag.PrintFlags(flags)
}
