// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command commands writes the reference pages of kubectl compute and karmadactl compute with cobra's own generator, one
// page for each: docs/reference/kubectl-compute.md and docs/reference/karmadactl-compute.md.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/cli"
)

const folder = "docs/reference"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "commands:", err)
		os.Exit(1)
	}
}

func run() error {
	for name, operator := range map[string]bool{"kubectl compute": false, "karmadactl compute": true} {
		content, err := page(tree(name, operator))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		file := filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".md")
		if err := os.WriteFile(file, content, 0o644); err != nil { //nolint:gosec // not a secret
			return err
		}
	}
	return nil
}

// tree returns the commands, without what differs from one machine to the next.
func tree(name string, operator bool) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true)
	root := cli.New(cli.Options{
		Use: "compute", Flags: flags, Operator: operator, Clock: clock.RealClock{},
		Streams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}},
	})
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	root.DisableAutoGenTag = true
	if cache := root.PersistentFlags().Lookup("cache-dir"); cache != nil {
		cache.DefValue = "$HOME/.kube/cache"
	}
	return root
}

// page returns the page of a command and of the commands below it.
func page(root *cobra.Command) ([]byte, error) {
	out := &bytes.Buffer{}
	fmt.Fprintf(out, "# %s\n\nGenerated from the code. [How to use the commands](../how-to/command.md).\n\n", root.CommandPath())
	if err := write(out, root); err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(out.Bytes(), "\n"), '\n'), nil
}

// file is a link of cobra's generator to a page for one command.
var file = regexp.MustCompile(`\]\(([^)]+)\.md\)`)

// write writes a command, and the commands below it. The flags of the root are with the root alone.
func write(out *bytes.Buffer, command *cobra.Command) error {
	text := &strings.Builder{}
	if err := doc.GenMarkdown(command, text); err != nil {
		return err
	}
	content := file.ReplaceAllStringFunc(text.String(), func(link string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(link, "]("), ".md)")
		return "](#" + strings.ReplaceAll(name, "_", "-") + ")"
	})
	content = strings.ReplaceAll(content, "\t - ", ": ")
	content = strings.ReplaceAll(content, "### SEE ALSO", "### See also")
	if command.HasParent() {
		content, _, _ = strings.Cut(content, "### See also")
	} else {
		// The page has its name as its title.
		_, content, _ = strings.Cut(content, "\n\n")
	}
	out.WriteString(content)

	command.PersistentFlags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	for _, sub := range command.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := write(out, sub); err != nil {
			return err
		}
	}
	return nil
}
