// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command flags writes the reference of the flags of both binaries, from what they say with --help, and of the addon, from its own
// flag sets. The command compute has pages of its own.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/karmada-io/karmada/pkg/karmadactl"
	"github.com/spf13/pflag"

	"github.com/karmada-compute/karmada-compute/addon"
)

const reference = "docs/reference/flags.md"

const head = `# Flags

Generated from the code: the flags of both binaries and of the addon. The chart sets the flags of the
binaries with its [values](../../charts/karmada-compute/README.md#values), and with ` + "`host.extraArgs`" + ` and ` +
	"`agents.extraArgs`" + ` for flags
without a value of their own.
`

// commands leads to the pages that cobra generates.
const commands = "\n## compute\n\nThe commands have pages of their own: [kubectl compute](kubectl-compute.md) for consumers, and\n" +
	"[karmadactl compute](karmadactl-compute.md) for operators.\n"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "flags:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	out := &strings.Builder{}
	out.WriteString(head)
	for _, binary := range []string{"karmada-compute", "karmada-compute-cell"} {
		if err := writeBinary(ctx, out, binary); err != nil {
			return err
		}
	}
	if err := writeAddon(out); err != nil {
		return err
	}
	out.WriteString(commands)
	return os.WriteFile(reference, []byte(out.String()), 0o644) //nolint:gosec // not a secret
}

var (
	// group is the headline of flags in the help of a binary, and flagLine one of them.
	group    = regexp.MustCompile(`^(.+) flags:$`)
	flagLine = regexp.MustCompile(`^ +(?:(-\w), )?--([\w-]+)(?: (\S+))? {2,}(.+)$`)
)

// writeBinary writes the flags of a binary, in the groups of its help.
func writeBinary(ctx context.Context, out *strings.Builder, name string) error {
	command := exec.CommandContext(ctx, "go", "run", "./cmd/"+name, "--help") //nolint:gosec // One of the two binaries.
	var help, problems bytes.Buffer
	command.Stdout, command.Stderr = &help, &problems
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s --help: %w: %s", name, err, problems.String())
	}
	fmt.Fprintf(out, "\n## %s\n", name)
	written := 0
	var found []string
	end := func() {
		if found != nil {
			row(out, found[1], found[2], found[3], found[4])
			found = nil
			written++
		}
	}
	for line := range strings.Lines(help.String()) {
		line = strings.TrimRight(line, "\n")
		title, next := group.FindStringSubmatch(line), flagLine.FindStringSubmatch(line)
		switch {
		case title != nil:
			end()
			fmt.Fprintf(out, "\n### %s: %s\n\n%s", name, strings.ToLower(title[1]), header)
		case next != nil:
			end()
			found = next
		case found != nil:
			found[4] += " " + line // The help of a flag may have several lines.
		}
	}
	end()
	if written == 0 {
		return fmt.Errorf("%s --help shows no flags", name)
	}
	return nil
}

const header = "| flag | | |\n| --- | --- | --- |\n"

// row writes a flag.
func row(out *strings.Builder, short, name, kind, usage string) {
	if short != "" {
		short = ", `" + short + "`"
	}
	usage = strings.Join(strings.Fields(strings.ReplaceAll(usage, "|", `\|`)), " ")
	fmt.Fprintf(out, "| `--%s`%s | %s | %s |\n", name, short, kind, strings.ReplaceAll(usage, "<", `\<`))
}

// rows writes flags that are wanted.
func rows(out *strings.Builder, flags *pflag.FlagSet, wanted func(*pflag.Flag) bool) {
	out.WriteString(header)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || !wanted(flag) {
			return
		}
		kind, usage := pflag.UnquoteUsage(flag)
		if flag.DefValue != "" && flag.DefValue != "false" && flag.DefValue != "[]" && flag.DefValue != "0" {
			usage += fmt.Sprintf(" (default %s)", flag.DefValue)
		}
		short := ""
		if flag.Shorthand != "" {
			short = "-" + flag.Shorthand
		}
		row(out, short, flag.Name, kind, usage)
	})
}

// writeAddon writes what the addon adds to Karmada's commands.
func writeAddon(out *strings.Builder) error {
	command := karmadactl.NewKarmadaCtlCommand("karmadactl", "karmadactl")
	verbs, karmadas := map[string]*pflag.FlagSet{}, map[string]bool{}
	for _, verb := range []string{"enable", "disable"} {
		found, _, err := command.Find([]string{"addons", verb})
		if err != nil {
			return err
		}
		verbs[verb] = found.Flags()
		found.Flags().VisitAll(func(flag *pflag.Flag) { karmadas[verb+flag.Name] = true })
	}
	if err := addon.Register(command); err != nil {
		return err
	}
	for _, verb := range []string{"enable", "disable"} {
		fmt.Fprintf(out, "\n## karmadactl addons %s karmada-compute\n\nBeside Karmada's own.\n\n", verb)
		rows(out, verbs[verb], func(flag *pflag.Flag) bool { return !karmadas[verb+flag.Name] })
	}
	return nil
}
