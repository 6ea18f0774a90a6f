// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// terminalScreen returns a screen on a terminal of a fixed size.
func terminalScreen(out *strings.Builder, columns, rows int) *Screen {
	return New(Options{Out: out, Size: func() (int, int) { return columns, rows }, Now: time.Now})
}

func TestScreenRedrawsInPlace(t *testing.T) {
	var out strings.Builder
	s := terminalScreen(&out, 80, 24)
	s.Show([]string{"one", "two"})
	out.Reset()
	s.Show([]string{"three"})
	if got := out.String(); !strings.HasPrefix(got, "\x1b[3A\r\x1b[J") || !strings.HasSuffix(got, "\n  three\n") {
		t.Errorf("the three lines before are not replaced: %q", got)
	}
	s.Line("below")
	out.Reset()
	s.Show([]string{"four"})
	if got := out.String(); strings.Contains(got, "A\r") {
		t.Errorf("a line below the block is replaced: %q", got)
	}
}

func TestScreenWithoutTerminal(t *testing.T) {
	var out strings.Builder
	s := New(Options{Out: &out, Now: time.Now})
	s.Show([]string{"one"})
	s.Show([]string{"one"})
	s.Show([]string{"two"})
	s.End()
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
		"all of it": {lines: []string{"clock", "├─ a"}, columns: 9, rows: 3, want: []string{"clock", "  ├─ a"}},
		"too wide":  {lines: []string{"clock", "├─ abcd"}, columns: 6, rows: 3, want: []string{"clock", "  ├─ …"}},
		"too high":  {lines: []string{"clock", "a", "b", "c"}, columns: 80, rows: 4, want: []string{"clock", "  a", "  … 2 more"}},
		"no room":   {lines: []string{"clock", "a", "b"}, columns: 80, rows: 1, want: []string{"… 3 more"}},
		"narrow": {
			lines: []string{"[  0.0s]", "├─ abcdefghijklmnopqrstuvwxyz0123456789ABCD"}, columns: 40, rows: 9,
			want: []string{"[  0.0s]", "  ├─ abcdefghijklmnopqrstuvwxyz01234567…"},
		},
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

// TestClosedPipe: a write error is kept, and does not stop the caller.
func TestClosedPipe(t *testing.T) {
	reader, writer := io.Pipe()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Out: writer, Now: time.Now})
	s.Show([]string{"one"})
	if !errors.Is(s.Err(), io.ErrClosedPipe) {
		t.Errorf("the error of a closed pipe is %v", s.Err())
	}
}

func TestSizeOfPipe(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = reader.Close(), writer.Close() }()
	if SizeOf(writer) != nil || SizeOf(&strings.Builder{}) != nil {
		t.Error("a pipe is taken for a terminal")
	}
}

func TestAlign(t *testing.T) {
	got := Align([][]string{{"├─ a", "1", "", "z"}, {"long", "", "3"}, {}})
	want := []string{"├─ a  1     z", "long     3", ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWidth: columns are aligned, and lines cut, by what a terminal shows, in every locale.
func TestWidth(t *testing.T) {
	t.Setenv("LC_ALL", "ja_JP.UTF-8")
	for line, want := range map[string]int{"├─ web": 6, "日本": 4, "e\u0301": 1, "": 0} {
		if got := Width(line); got != want {
			t.Errorf("%q has %d columns, want %d", line, got, want)
		}
	}
	if got := Align([][]string{{"日本", "1"}, {"web", "2"}}); !slices.Equal(got, []string{"日本  1", "web   2"}) {
		t.Errorf("got %q", got)
	}
	if got := Cut("日本語", 5); got != "日本…" {
		t.Errorf("got %q", got)
	}
}

func TestWrap(t *testing.T) {
	cases := map[string]struct {
		text    string
		columns int
		want    []string
	}{
		"fits":        {text: "a b", columns: 3, want: []string{"a b"}},
		"is wrapped":  {text: "some words  more", columns: 10, want: []string{"some words", "more"}},
		"a long word": {text: "a extraordinary b", columns: 5, want: []string{"a", "extraordinary", "b"}},
		"no limit":    {text: "some words\nmore", want: []string{"some words more"}},
		"nothing":     {columns: 5},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Wrap(c.text, c.columns); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestScreenIsClean: a Screen writes no control character but its own.
func TestScreenIsClean(t *testing.T) {
	var out strings.Builder
	s := New(Options{Out: &out, Now: time.Now})
	s.Show([]string{"a\x1b[2Jb", "c\u009bd"})
	s.Line("%s", "\x1b]0;title\x07")
	s.Headline("%s", "\u202ee")
	if got := out.String(); strings.ContainsAny(got, "\x1b\x07\u009b\u202e") || !strings.Contains(got, "a[2Jb") {
		t.Errorf("got %q", got)
	}
}
