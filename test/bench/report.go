// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// report is the result of a subcommand: the command line, a table, and notes.
type report struct {
	title   string
	command string
	machine string
	header  []string
	rows    [][]string
	notes   []string
}

// newReport returns a report. Call it before the measurement, since it reads the load of the machine.
func newReport(cmd *cobra.Command, title string, header ...string) *report {
	return &report{title: title, command: commandLine(cmd), machine: machine(), header: header}
}

func (r *report) add(row ...string) { r.rows = append(r.rows, row) }

func (r *report) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// write writes the report as Markdown.
func (r *report) write(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "\n### %s\n\n`%s`, on %s\n\n%s", r.title, r.command, r.machine, markdown(r.header, r.rows))
	for i, note := range r.notes {
		if i == 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "- %s\n", note)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// commandLine has every flag, including defaults, which may change later.
func commandLine(cmd *cobra.Command) string {
	words := []string{"go run -C test ./bench", cmd.Name()}
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "help" {
			words = append(words, fmt.Sprintf("--%s=%s", flag.Name, strings.Trim(flag.Value.String(), "[]")))
		}
	})
	return strings.Join(words, " ")
}

// machine describes the machine and its load.
func machine() string {
	where := fmt.Sprintf("%d CPUs, %s, %s", runtime.NumCPU(), runtime.GOARCH, runtime.Version())
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		if load, _, ok := strings.Cut(string(content), " "); ok {
			where += ", load before " + load
		}
	}
	return where
}

// markdown returns a table whose columns are aligned in its source, too: the first to the left, others to the right.
func markdown(header []string, rows [][]string) string {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), len("--:"))
		}
	}
	var text strings.Builder
	line := func(cells []string) {
		for i, cell := range cells {
			padding := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				cell += padding
			} else {
				cell = padding + cell
			}
			fmt.Fprintf(&text, "| %s ", cell)
		}
		text.WriteString("|\n")
	}
	rule := make([]string, len(header))
	for i, width := range widths {
		rule[i] = strings.Repeat("-", width-1) + ":"
	}
	rule[0] = strings.Repeat("-", widths[0])
	line(header)
	line(rule)
	for _, row := range rows {
		line(row)
	}
	return text.String()
}

// millis formats a duration in milliseconds.
func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

// ratio formats a value as a multiple of the floor.
func ratio(of, floor float64) string {
	if floor == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f×", of/floor)
}

// progress writes lines with the time since the start. They are not part of the report.
type progress struct {
	out   io.Writer
	start time.Time
}

func newProgress(cmd *cobra.Command) *progress {
	return &progress{out: cmd.ErrOrStderr(), start: time.Now()}
}

func (p *progress) printf(format string, args ...any) {
	fmt.Fprintf(p.out, "%6.1fs  %s\n", time.Since(p.start).Seconds(), fmt.Sprintf(format, args...))
}
