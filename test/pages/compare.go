// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"fmt"
	"regexp"
	"strings"
)

// anyText replaces output that a page does not show; on a line of its own, any number of lines.
const anyText = "..."

// changing matches output that differs each time. A page shows an example of it.
var changing = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\x1b\[[0-9;]*m`), ""},
	{regexp.MustCompile(`[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+(:\d+)?\b`), "<address>"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|[smhd]))+\b`), "<age>"},
}

// plain returns a line without output that differs each time, and without the widths of columns.
func plain(line string) string {
	for _, c := range changing {
		line = c.what.ReplaceAllString(line, c.as)
	}
	return strings.Join(strings.Fields(line), " ")
}

// Matches reports whether the output of commands matches a page.
func Matches(page, printed string) bool {
	pattern := strings.Builder{}
	pattern.WriteString(`\A`)
	for line := range strings.Lines(strings.Trim(page, "\n") + "\n") {
		if strings.TrimSpace(line) == anyText {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(plain(line)), regexp.QuoteMeta(anyText), ".*") + `\n`)
	}
	pattern.WriteString(`\z`)
	lines := strings.Builder{}
	for line := range strings.Lines(strings.Trim(printed, "\n") + "\n") {
		fmt.Fprintln(&lines, plain(line))
	}
	return regexp.MustCompile(pattern.String()).MatchString(lines.String())
}
