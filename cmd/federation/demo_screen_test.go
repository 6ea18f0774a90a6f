// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// terminalScreen returns a screen on a terminal of a fixed size.
func terminalScreen(out *strings.Builder, columns, rows int) *screen {
	s := newScreen(out, time.Now())
	s.size = func() (int, int) { return columns, rows }
	return s
}

func TestScreenRedrawsInPlace(t *testing.T) {
	var out strings.Builder
	s := terminalScreen(&out, 80, 24)
	s.show([]string{"one", "two"})
	out.Reset()
	s.show([]string{"three"})
	if got := out.String(); !strings.HasPrefix(got, "\x1b[3A\r\x1b[J") || !strings.HasSuffix(got, "\n  three\n") {
		t.Errorf("the three lines before are not replaced: %q", got)
	}
	s.line("below")
	out.Reset()
	s.show([]string{"four"})
	if got := out.String(); strings.Contains(got, "A\r") {
		t.Errorf("a line below the block is replaced: %q", got)
	}
}

func TestScreenWithoutTerminal(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out, time.Now())
	s.show([]string{"one"})
	s.show([]string{"one"})
	s.show([]string{"two"})
	s.end()
	if got := out.String(); strings.Contains(got, "\x1b") || strings.Count(got, "one") != 1 || strings.Count(got, "two") != 1 {
		t.Errorf("each block must be written once, without control characters: %q", got)
	}
}

func TestFit(t *testing.T) {
	cases := map[string]struct {
		lines         []string
		columns, rows int
		want          []string
	}{
		"all of it":     {lines: []string{"clock", "├─ a"}, columns: 9, rows: 3, want: []string{"clock", "  ├─ a"}},
		"too wide":      {lines: []string{"clock", "├─ abcd"}, columns: 6, rows: 3, want: []string{"clock", "  ├─ …"}},
		"too high":      {lines: []string{"clock", "a", "b", "c"}, columns: 80, rows: 4, want: []string{"clock", "  a", "  … 2 more"}},
		"no room":       {lines: []string{"clock", "a", "b"}, columns: 80, rows: 1, want: []string{"… 3 more"}},
		"nothing to do": {columns: 80, rows: 24},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := fit(c.lines, c.columns, c.rows); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
