// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// outputVersion is the version of what -o json and -o yaml print.
const outputVersion = "cli.compute.datumapis.com/v1alpha"

const (
	formatWide = "wide"
	formatName = "name"
)

// named is a value with the names of objects, as `kubectl get -o name` prints them.
type named interface{ Names() []string }

// Output is the flag -o, with the formats of kubectl.
type Output struct {
	flags *genericclioptions.PrintFlags
	// names: the values that the command prints have names of objects.
	names bool
}

// NewOutput adds flag -o to a command.
func NewOutput(cmd *cobra.Command) *Output { return addOutput(cmd, &Output{}) }

// NewNamesOutput also has format name: what the command prints is named.
func NewNamesOutput(cmd *cobra.Command) *Output { return addOutput(cmd, &Output{names: true}) }

func addOutput(cmd *cobra.Command, o *Output) *Output {
	o.flags = genericclioptions.NewPrintFlags("")
	o.flags.AddFlags(cmd)
	flag := cmd.Flags().Lookup("output")
	flag.Usage = fmt.Sprintf("Output format. One of: (%s).", strings.Join(o.formats(), ", "))
	// The flag has no use without managed fields.
	_ = cmd.Flags().MarkHidden("show-managed-fields")
	_ = cmd.RegisterFlagCompletionFunc("output", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return o.formats(), cobra.ShellCompDirectiveNoFileComp
	})
	return o
}

func (o *Output) formats() []string {
	formats := slices.DeleteFunc(o.flags.AllowedFormats(), func(format string) bool { return format == formatName && !o.names })
	return append(formats, formatWide)
}

// Check rejects an unknown format before the command reads any object.
func (o *Output) Check() error {
	if o.IsText() {
		return nil
	}
	if o.IsName() && !o.names {
		return genericclioptions.NoCompatiblePrinterError{OutputFormat: o.flags.OutputFormat, AllowedFormats: o.formats()}
	}
	if _, err := o.flags.ToPrinter(); err != nil {
		return fmt.Errorf("%w,%s", err, formatWide)
	}
	return nil
}

// IsWide reports whether the output for people has more columns.
func (o *Output) IsWide() bool { return *o.flags.OutputFormat == formatWide }

// IsName reports whether the output is the names of objects.
func (o *Output) IsName() bool { return *o.flags.OutputFormat == formatName }

// IsText reports whether the output is for people.
func (o *Output) IsText() bool { return *o.flags.OutputFormat == "" || o.IsWide() }

// Print prints a value in the format of the flag, as an object of a kind of its own.
func (o *Output) Print(out io.Writer, kind string, value any) error {
	if list, ok := value.(named); ok && o.IsName() {
		_, err := fmt.Fprintln(out, strings.Join(list.Names(), "\n"))
		return err
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(encoded, &object.Object); err != nil {
		return err
	}
	object.SetAPIVersion(outputVersion)
	object.SetKind(kind)
	return o.PrintObject(out, object)
}

// PrintObject prints an object of an API in the format of the flag.
func (o *Output) PrintObject(out io.Writer, object runtime.Object) error {
	printer, err := o.flags.ToPrinter()
	if err != nil {
		return err
	}
	return printer.PrintObj(object, out)
}
