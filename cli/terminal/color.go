// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Values of a flag for colour. ColorAuto is colour on a terminal, unless the user has set NO_COLOR (no-color.org).
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// ColorChoices are the values of a flag for colour.
func ColorChoices() []string { return []string{ColorAuto, ColorAlways, ColorNever} }

// HasColor reports whether what is written to out has colour.
func HasColor(choice string, out io.Writer) (bool, error) {
	switch {
	case !slices.Contains(ColorChoices(), choice):
		return false, fmt.Errorf("--color: %q is unknown; use one of %s", choice, strings.Join(ColorChoices(), ", "))
	case choice == ColorAuto:
		return os.Getenv("NO_COLOR") == "" && SizeOf(out) != nil, nil
	}
	return choice == ColorAlways, nil
}

// Select Graphic Rendition of a terminal. Colours are the terminal's own, so that they suit dark and light ones.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// states are words that fill a column, or the rest of a line after one; actions and alerts begin a line.
var (
	states  = regexp.MustCompile(`(?m)(?:^|  )(\d+/\d+(?: Ready)?|Ready|not Ready|Unknown|gone|waiting|deleting)(?:  |$)`)
	actions = regexp.MustCompile(`(?m)^[ │]*(-> [^:\n]+:)`)
	alerts  = regexp.MustCompile(`(?m)^ *(! .*)$`)
)

// Painter colours states, actions and alerts in text, whose columns have gaps of two spaces. It knows them by their
// words, so that every command has the same colours; the text must be cleaned before. It is as safe for concurrent use
// as the writer is.
type Painter struct {
	// Out gets the text.
	Out io.Writer
	// On: the text has colour. A flag may set it later.
	On bool
}

// Write implements io.Writer.
func (p *Painter) Write(text []byte) (int, error) {
	painted := text
	if p.On {
		painted = []byte(paint(string(text)))
	}
	if _, err := p.Out.Write(painted); err != nil {
		return 0, err
	}
	return len(text), nil
}

func paint(text string) string {
	text = paintEach(text, states, colorOf)
	text = paintEach(text, actions, func(string) string { return bold })
	return paintEach(text, alerts, func(string) string { return red })
}

// paintEach colours the first group of each match. A gap may end one match and begin the next, so that each search
// starts at the end of the last group.
func paintEach(text string, pattern *regexp.Regexp, color func(word string) string) string {
	var result strings.Builder
	for {
		found := pattern.FindStringSubmatchIndex(text)
		if found == nil {
			result.WriteString(text)
			return result.String()
		}
		begin, end := found[2], found[3]
		fmt.Fprintf(&result, "%s\x1b[%sm%s\x1b[0m", text[:begin], color(text[begin:end]), text[begin:end])
		text = text[end:]
	}
}

// colorOf returns the colour of a state: green is complete, yellow is in between, red is a fault.
func colorOf(state string) string {
	var ready, desired int
	if n, _ := fmt.Sscanf(state, "%d/%d", &ready, &desired); n == 2 {
		switch {
		case ready >= desired:
			return green
		case ready == 0:
			return red
		}
		return yellow
	}
	switch state {
	case "Ready":
		return green
	case "waiting", "deleting":
		return yellow
	}
	return red
}
