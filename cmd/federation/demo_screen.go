// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
)

// Terminal control: up n lines, and clear from the cursor to the end.
const (
	cursorUp   = "\x1b[%dA"
	clearBelow = "\x1b[J"
)

// screen writes headlines, lines, and a block of lines that changes in place on a terminal. If the output is not a
// terminal, the block is written again whenever it has changed. A screen is not safe for concurrent use.
//
// Errors of writing are ignored: a closed terminal must not prevent the stop of the federation.
type screen struct {
	out io.Writer
	// size returns the columns and rows of the terminal; nil if the output is not a terminal.
	size  func() (columns, rows int)
	start time.Time

	block []string
	// drawn is how many lines of the terminal the block covers.
	drawn int
}

func newScreen(out io.Writer, start time.Time) *screen {
	s := &screen{out: out, start: start}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return s
	}
	s.size = func() (int, int) {
		columns, rows, err := term.GetSize(int(file.Fd()))
		if err != nil || columns < 1 || rows < 2 {
			return 80, 24
		}
		return columns, rows
	}
	return s
}

// Write writes p unchanged: it is for the progress of the federation.
func (s *screen) Write(p []byte) (int, error) {
	s.end()
	return s.out.Write(p)
}

// headline starts a section, with the time since the start.
func (s *screen) headline(format string, args ...any) {
	s.line("\n%s %s", s.elapsed(), fmt.Sprintf(format, args...))
}

// line writes one line.
func (s *screen) line(format string, args ...any) {
	s.end()
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}

func (s *screen) elapsed() string {
	return fmt.Sprintf("[%5.1fs]", time.Since(s.start).Seconds())
}

// show replaces the lines that it showed before, unless end was called since.
func (s *screen) show(lines []string) {
	if s.size == nil {
		if slices.Equal(lines, s.block) {
			return
		}
		s.block = slices.Clone(lines)
		_, _ = fmt.Fprintf(s.out, "%s\n%s\n", s.elapsed(), indent(lines))
		return
	}
	columns, rows := s.size()
	shown := fit(append([]string{s.elapsed()}, lines...), columns, rows)
	var frame strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&frame, cursorUp, s.drawn)
	}
	frame.WriteString("\r" + clearBelow)
	for _, line := range shown {
		frame.WriteString(line + "\n")
	}
	_, _ = io.WriteString(s.out, frame.String())
	s.block, s.drawn = slices.Clone(lines), len(shown)
}

// end leaves the block on the screen; what is written next comes below it.
func (s *screen) end() { s.block, s.drawn = nil, 0 }

// fit cuts lines to the size of a terminal. A line that wraps or scrolls out could not be replaced.
func fit(lines []string, columns, rows int) []string {
	result := slices.Clone(lines)
	if most := max(rows-1, 1); len(result) > most {
		hidden := len(result) - most + 1
		result = append(result[:most-1], fmt.Sprintf("… %d more", hidden))
	}
	for i, line := range result {
		if i > 0 {
			line = "  " + line
		}
		if runes := []rune(line); len(runes) > columns {
			line = string(runes[:max(columns-1, 0)]) + "…"
		}
		result[i] = line
	}
	return result
}

func indent(lines []string) string {
	return "  " + strings.Join(lines, "\n  ")
}
