// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// leastReadings is the minimum number of readings for a trend: two in each quarter.
const leastReadings = 8

// Trend returns a table of the change from the second quarter of the readings to the last one: of the processes' usage, and of
// the writes per second. The first quarter contains the creation of the Workloads and filling caches. A flat value did not grow.
// A process that was restarted since the second quarter is left out. It is "" for too few readings.
func Trend(readings []Reading) string {
	if len(readings) < leastReadings {
		return ""
	}
	quarter := len(readings) / 4
	early, late := readings[quarter:2*quarter], readings[len(readings)-quarter:]
	rows := []string{
		fmt.Sprintf("| %d readings in %.0f min | second quarter | last quarter | change |", len(readings), readings[len(readings)-1].At.Minutes()),
		"| --- | ---: | ---: | ---: |",
	}
	row := func(name, unit string, value func(*Reading) float64) {
		before, after := mean(early, value), mean(late, value)
		change := "–"
		if before > 0 {
			change = fmt.Sprintf("%+.0f %%", (after/before-1)*100)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |", name, strings.TrimSpace(fmt.Sprintf("%.1f %s", before, unit)), strings.TrimSpace(fmt.Sprintf("%.1f %s", after, unit)), change))
	}
	row("Workloads", "", func(r *Reading) float64 { return float64(r.Workloads) })
	for _, name := range slices.Sorted(maps.Keys(late[0].Processes)) {
		if !ranSince(readings[quarter:], name) {
			continue
		}
		row(name+": memory", "MiB", func(r *Reading) float64 { return r.Processes[name].Memory / (1 << 20) })
		row(name+": goroutines", "", func(r *Reading) float64 { return r.Processes[name].Goroutines })
	}
	for _, plane := range slices.Sorted(maps.Keys(late[0].Writes)) {
		row(plane+": writes", "a second", func(r *Reading) float64 { return r.Writes[plane] })
	}
	return strings.Join(rows, "\n")
}

// ranSince reports whether a process is in all readings and was never restarted.
func ranSince(readings []Reading, name string) bool {
	started := readings[0].Processes[name].Started
	for i := range readings {
		if usage, found := readings[i].Processes[name]; !found || usage.Started != started {
			return false
		}
	}
	return true
}

func mean(readings []Reading, value func(*Reading) float64) float64 {
	var sum float64
	for i := range readings {
		sum += value(&readings[i])
	}
	return sum / float64(len(readings))
}
