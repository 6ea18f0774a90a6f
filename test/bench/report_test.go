// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestMarkdown(t *testing.T) {
	got := markdown([]string{"", "p50", "ratio"}, [][]string{{"floor", "1.00 ms", "1.00×"}, {"a Workload", "12.50 ms", "12.50×"}})
	want := strings.TrimPrefix(`
|            |      p50 |  ratio |
| ---------- | -------: | -----: |
| floor      |  1.00 ms |  1.00× |
| a Workload | 12.50 ms | 12.50× |
`, "\n")
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestMarkdownWithoutRows(t *testing.T) {
	if got, want := markdown([]string{"a", "b"}, nil), "| a   |   b |\n| --- | --: |\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestReport(t *testing.T) {
	cmd := &cobra.Command{Use: "latency"}
	cmd.Flags().Int("n", 2000, "")
	cmd.Flags().IntSlice("counts", []int{10, 20}, "")
	if err := cmd.ParseFlags([]string{"--n=7"}); err != nil {
		t.Fatal(err)
	}
	r := newReport(cmd, "Title", "", "p50")
	r.machine = "a machine"
	r.add("floor", "1.00 ms")
	r.note("measured %d times", 7)
	var out strings.Builder
	if err := r.write(&out); err != nil {
		t.Fatal(err)
	}
	want := "\n### Title\n\n`go run -C test ./bench latency --counts=10,20 --n=7`, on a machine\n\n" +
		"|       |     p50 |\n| ----- | ------: |\n| floor | 1.00 ms |\n\n- measured 7 times\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		millis(1500 * time.Microsecond): "1.50 ms",
		ratio(3, 2):                     "1.50×",
		ratio(3, 0):                     "-",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
