// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/cli/terminal"
)

// TestHeadingsOfTheDemo: the demo prints each heading of the tutorial once, and below it the steps that the tutorial has
// there.
func TestHeadingsOfTheDemo(t *testing.T) {
	out := &bytes.Buffer{}
	d := &demo{screen: terminal.New(terminal.Options{Out: out, Now: time.Now})}
	page, err := d.page()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	steps := map[string]int{}
	for i := range page.Blocks {
		block := &page.Blocks[i]
		if block.NotRun != "" {
			continue
		}
		if !slices.Contains(want, block.Heading) {
			want = append(want, block.Heading)
		}
		steps[block.Heading]++
		d.show(block, "printed")
	}

	var got []string
	printed := map[string]int{}
	for line := range strings.SplitSeq(out.String(), "\n") {
		_, heading, timed := strings.Cut(line, "s] ")
		switch {
		case !strings.HasPrefix(line, "  ") && timed:
			got = append(got, strings.TrimSpace(heading))
		case line == "  printed":
			printed[got[len(got)-1]]++
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the headings are %q, want %q", got, want)
	}
	for heading, count := range steps {
		if printed[heading] != count {
			t.Errorf("%d steps are below %q, want %d", printed[heading], heading, count)
		}
	}
}
