// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// output is the flag -o, with the formats of kubectl.
type output struct {
	flags *genericclioptions.PrintFlags
	// names: the values that the command prints have names of objects.
	names bool
}

func newOutput(cmd *cobra.Command) *output { return addOutput(cmd, &output{}) }

// newNamesOutput also has format name: what the command prints is named.
func newNamesOutput(cmd *cobra.Command) *output { return addOutput(cmd, &output{names: true}) }

func addOutput(cmd *cobra.Command, o *output) *output {
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

func (o *output) formats() []string {
	formats := slices.DeleteFunc(o.flags.AllowedFormats(), func(format string) bool { return format == formatName && !o.names })
	return append(formats, formatWide)
}

// check rejects an unknown format before the command reads any object.
func (o *output) check() error {
	if o.isText() {
		return nil
	}
	if *o.flags.OutputFormat == formatName && !o.names {
		return genericclioptions.NoCompatiblePrinterError{OutputFormat: o.flags.OutputFormat, AllowedFormats: o.formats()}
	}
	if _, err := o.flags.ToPrinter(); err != nil {
		return fmt.Errorf("%w,%s", err, formatWide)
	}
	return nil
}

func (o *output) isWide() bool { return *o.flags.OutputFormat == formatWide }

// isText reports whether the output is for people.
func (o *output) isText() bool { return *o.flags.OutputFormat == "" || o.isWide() }

// print prints a value in the format of the flag, as an object of a kind of its own.
func (o *output) print(out io.Writer, kind string, value any) error {
	if list, ok := value.(named); ok && *o.flags.OutputFormat == formatName {
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
	printer, err := o.flags.ToPrinter()
	if err != nil {
		return err
	}
	return printer.PrintObj(object, out)
}
