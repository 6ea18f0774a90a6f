// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestInterpreterOptions(t *testing.T) {
	cases := map[string]struct {
		args string
		want string
	}{
		"the defaults":           {"", ""},
		"a short trial":          {"--instances=1 --updates=2 --at-once=3 --modes=webhook", ""},
		"another mode":           {"--modes=guess", `"guess"`},
		"lists of other lengths": {"--updates=1", "the same number of values"},
		"no Instances":           {"--instances=0,1,2,3", "from 1"},
		"too many Instances":     {"--instances=1,2,5001,1", "to 5000"},
		"no updates":             {"--updates=0,1,1,1", "above 0"},
		"no time":                {"--duration=0s", "above 0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var o interpreterOptions
			flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
			o.addFlags(flags)
			if err := flags.Parse(strings.Fields(c.args)); err != nil {
				t.Fatal(err)
			}
			err := o.check()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// measured is a carriage with two updates of the given duration, one of which failed.
func measured(name string, instances int, took time.Duration, bytes int64) *carriage {
	c := &carriage{name: name, instances: instances, atOnce: 4}
	c.result.alone.note(true)
	c.result.alone.note(false)
	c.result.together.note(true)
	c.result.perSecond = 10 / took.Seconds()
	c.result.writing.add(time.Millisecond)
	c.result.latency.add(took)
	c.result.written = map[string]written{inCell: {writes: 2, bytes: bytes}, onHub: {writes: 4, bytes: bytes}}
	c.result.cpu = map[string]time.Duration{controllerManager: 20 * time.Millisecond}
	return c
}

func TestRowsOfInterpreter(t *testing.T) {
	floor := measured(floorName, 0, 10*time.Millisecond, 4000)
	ours := measured(webhookMode, 100, 30*time.Millisecond, 40000)
	nothing := &carriage{name: customizationMode, instances: 1000, atOnce: 4}
	nothing.result.alone.note(false)
	cases := map[string]struct{ got, want []string }{
		"latency of the floor": {floor.latencyRow(floor), []string{floorName + ", 4 at once", "-", "2", "1", "1.00 ms", "10.00 ms", "10.00 ms", "1.00×", "1.00×"}},
		"latency":              {ours.latencyRow(floor), []string{"webhook", "100", "2", "1", "1.00 ms", "30.00 ms", "30.00 ms", "3.00×", "3.00×"}},
		"latency of nothing":   {nothing.latencyRow(floor), []string{"customization", "1000", "1", "1", "-", "-", "-", "-", "-"}},
		"rate":                 {ours.rateRow(floor), []string{"webhook", "100", "4", "1", "0", "333.33", "0.33×"}},
		"writes": {ours.writesRow(floor), []string{
			"webhook", "100", "3.0", "40.0 kB", "10.00×", "1.0 × 20.0 kB", "0.0 × 0.0 kB", "0.0 × 0.0 kB", "2.0 × 10.0 kB", "10.00 ms", "0.00 ms",
		}},
		"writes of nothing": {nothing.writesRow(floor), append([]string{"customization", "1000"}, none(9)...)},
	}
	reports := newCarriedReports(interpreterCommand())
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if !slices.Equal(c.got, c.want) {
				t.Errorf("got  %q\nwant %q", c.got, c.want)
			}
			columns := map[string]int{"latency": len(reports.latency.header), "rate": len(reports.rate.header), "writes": len(reports.writes.header)}
			if kind, _, _ := strings.Cut(name, " "); len(c.got) != columns[kind] {
				t.Errorf("%d cells for %d columns", len(c.got), columns[kind])
			}
		})
	}
}
