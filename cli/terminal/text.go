// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/mitchellh/go-wordwrap"
)

// columnGap is the number of spaces between two columns.
const columnGap = 2

// widths counts the columns of a terminal. The branches of a tree have one column each, in every locale.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// Width returns how many columns a terminal needs for a line: a wide character has two, and a combining one none.
func Width(line string) int { return widths.StringWidth(line) }

// Align pads all columns but the last to the same width in every row.
func Align(rows [][]string) []string { return new(Columns).Align(rows) }

// Columns holds the column widths of a table that is written in parts: columns grow, but never shrink.
type Columns struct{ widths []int }

// Align pads all columns but the last of these rows to the present width, or to a larger one that the rows need.
func (c *Columns) Align(rows [][]string) []string {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(c.widths) {
				c.widths = append(c.widths, 0)
			}
			c.widths[i] = max(c.widths[i], Width(cell))
		}
	}
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", c.widths[i]-Width(cell)+columnGap))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

// indent joins lines and indents them by two characters.
func indent(lines []string) string { return "  " + strings.Join(lines, "\n  ") }

// Cut shortens a line to this number of columns. 0 means no limit.
func Cut(line string, columns int) string {
	if columns > 0 {
		return widths.Truncate(line, columns, "…")
	}
	return line
}

// Wrap splits text between words into lines of at most this number of columns; a longer word gets its own line. 0 means
// no limit.
func Wrap(text string, columns int) []string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return nil
	}
	if columns > 0 {
		text = wordwrap.WrapString(text, uint(columns))
	}
	return strings.Split(text, "\n")
}
