// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package terminal writes blocks of lines that change in place on a terminal, and plain lines to other outputs.
package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Terminal control: up n lines, and clear from the cursor to the end.
const (
	cursorUp   = "\x1b[%dA"
	clearBelow = "\x1b[J"
)

// Size returns the columns and rows of a terminal.
type Size func() (columns, rows int)

// SizeOf returns the size function of a terminal, or nil if the writer is a file, a pipe, or a terminal that cannot
// move its cursor.
func SizeOf(out io.Writer) Size {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func() (int, int) {
		columns, rows, err := term.GetSize(int(file.Fd()))
		if err != nil || columns < 1 || rows < 2 {
			return 80, 24
		}
		return columns, rows
	}
}

// Screen writes headlines, lines, and a block of lines that changes in place on a terminal. If the output is not a
// terminal, the block is written again whenever it has changed. A Screen is not safe for concurrent use.
//
// Write errors do not stop the caller; Err returns the first one.
type Screen struct {
	out io.Writer
	// size is nil if the output is not a terminal.
	size  Size
	start time.Time
	now   func() time.Time
	err   error

	block []string
	// drawn is the number of terminal lines that the block covers.
	drawn int
}

// Options configures the output of a Screen.
type Options struct {
	// Out is the output.
	Out io.Writer
	// Size returns the size of the terminal. It is nil if Out is not a terminal. SizeOf finds it.
	Size Size
	// Now is the clock. Headlines and blocks show the time since the start.
	Now func() time.Time
}

// New returns a Screen that starts now.
func New(o Options) *Screen {
	return &Screen{out: o.Out, size: o.Size, start: o.Now(), now: o.Now}
}

// Err returns the first write error, such as a closed pipe.
func (s *Screen) Err() error { return s.err }

// Start returns the time when the Screen was created.
func (s *Screen) Start() time.Time { return s.start }

// Columns returns the width of the terminal, or 0 if there is no terminal.
func (s *Screen) Columns() int {
	if s.size == nil {
		return 0
	}
	columns, _ := s.size()
	return columns
}

// Write writes p unchanged, below the block.
func (s *Screen) Write(p []byte) (int, error) {
	s.End()
	return s.out.Write(p)
}

// Headline starts a section, with the time since the start.
func (s *Screen) Headline(format string, args ...any) {
	s.Line("\n%s %s", s.elapsed(), fmt.Sprintf(format, args...))
}

// Line writes one line.
func (s *Screen) Line(format string, args ...any) {
	s.End()
	s.write(reasons.Clean(fmt.Sprintf(format+"\n", args...)))
}

func (s *Screen) elapsed() string {
	return fmt.Sprintf("[%5.1fs]", s.now().Sub(s.start).Seconds())
}

// Show replaces the lines of the previous call, unless End was called since.
func (s *Screen) Show(lines []string) {
	lines = cleaned(lines)
	if s.size == nil {
		if slices.Equal(lines, s.block) {
			return
		}
		s.block = slices.Clone(lines)
		s.write(s.elapsed() + "\n" + indent(lines) + "\n")
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
	s.write(frame.String())
	s.block, s.drawn = slices.Clone(lines), len(shown)
}

func cleaned(lines []string) []string {
	result := make([]string, 0, len(lines))
	for _, line := range lines {
		result = append(result, reasons.Clean(line))
	}
	return result
}

// End keeps the block on the screen; later output appears below it.
func (s *Screen) End() { s.block, s.drawn = nil, 0 }

func (s *Screen) write(text string) {
	if _, err := io.WriteString(s.out, text); err != nil && s.err == nil {
		s.err = err
	}
}

// fit cuts lines to the size of a terminal: lines that wrap or scroll out could not be replaced.
func fit(lines []string, columns, rows int) []string {
	result := slices.Clone(lines)
	if limit := max(rows-1, 1); len(result) > limit {
		hidden := len(result) - limit + 1
		result = append(result[:limit-1], fmt.Sprintf("… %d more", hidden))
	}
	for i, line := range result {
		if i > 0 {
			line = "  " + line
		}
		result[i] = Cut(line, columns)
	}
	return result
}
