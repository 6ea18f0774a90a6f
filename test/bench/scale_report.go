// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// scaleResult holds the figures of one size.
type scaleResult struct {
	deployments, instances int
	// load of the machine before the measurement.
	load string
	// filled is how long it took until the Instances of the last added deployments were Ready.
	filled time.Duration
	added  int
	// cpu and writes belong to one added deployment, until the hub was at rest.
	cpu    cpuTimes
	writes map[string]float64
	// bytes of an added deployment in the API servers.
	bytes map[string]float64
	// memory of processes at rest.
	memory map[string]int
	// calm is the lag of changes one after the other, and storm the lag of many changes a second.
	calm, storm summary
	// stormRate is how many changes a second began, stormShown how many were shown a second, and stormCPU the CPU time of
	// a change.
	stormRate, stormShown float64
	stormCPU              cpuTimes
	takeover              time.Duration
}

// String describes what is measured so far.
func (r *scaleResult) String() string {
	text := fmt.Sprintf("%d deployments: %d more Ready after %.1f s", r.deployments, r.added, r.filled.Seconds())
	if r.cpu != nil {
		text += fmt.Sprintf(", CPU of each %s", millis(r.cpu.total()))
	}
	if r.calm.count > 0 {
		text += fmt.Sprintf("; lag p50 %s, p99 %s", millis(r.calm.p50), millis(r.calm.p99))
	}
	if r.storm.count > 0 {
		text += fmt.Sprintf("; %.0f changes a second: p50 %s, p99 %s, %.0f shown", r.stormRate, millis(r.storm.p50),
			millis(r.storm.p99), r.stormShown)
	}
	if r.takeover > 0 {
		text += fmt.Sprintf("; takeover %.1f s", r.takeover.Seconds())
	}
	return text
}

// each returns the time per added deployment.
func (r *scaleResult) each() time.Duration { return r.filled / time.Duration(max(1, r.added)) }

// load returns the load of the machine in the last minute.
func load() string {
	content, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	text, _, _ := strings.Cut(string(content), " ")
	return text
}

// scaleReports makes the tables of the results.
type scaleReports struct {
	cmd     *cobra.Command
	machine string
	results []*scaleResult
}

func newScaleReports(cmd *cobra.Command) *scaleReports {
	return &scaleReports{cmd: cmd, machine: machine()}
}

func (s *scaleReports) write(out io.Writer) error {
	var errs []error
	for _, table := range []*report{s.times(), s.costs(), s.memory()} {
		table.machine = s.machine
		errs = append(errs, table.write(out))
	}
	return errors.Join(errs...)
}

// times is the table of durations, with a column for each size.
func (s *scaleReports) times() *report {
	t := newReport(s.cmd, "More and more deployments", s.header()...)
	s.row(t, "Instances", func(r *scaleResult) (string, float64) { return fmt.Sprint(r.instances), 0 })
	s.row(t, "load before", func(r *scaleResult) (string, float64) { return r.load, 0 })
	s.row(t, "added deployments", func(r *scaleResult) (string, float64) { return fmt.Sprint(r.added), 0 })
	s.row(t, "all of these Ready after", func(r *scaleResult) (string, float64) { return fmt.Sprintf("%.1f s", r.filled.Seconds()), 0 })
	duration := func(name string, of func(*scaleResult) time.Duration) {
		s.row(t, name, func(r *scaleResult) (string, float64) { return millis(of(r)), of(r).Seconds() })
	}
	duration("time per added deployment", (*scaleResult).each)
	duration("lag of one change, p50", func(r *scaleResult) time.Duration { return r.calm.p50 })
	duration("lag of one change, p99", func(r *scaleResult) time.Duration { return r.calm.p99 })
	s.row(t, "storm: changes a second", func(r *scaleResult) (string, float64) { return fmt.Sprintf("%.0f", r.stormRate), 0 })
	s.row(t, "storm: shown a second", func(r *scaleResult) (string, float64) { return fmt.Sprintf("%.1f", r.stormShown), r.stormShown })
	duration("storm: lag, p50", func(r *scaleResult) time.Duration { return r.storm.p50 })
	duration("storm: lag, p99", func(r *scaleResult) time.Duration { return r.storm.p99 })
	duration("takeover", func(r *scaleResult) time.Duration { return r.takeover })
	t.note("A change: condition Ready of a Pod in a cell changes; the lag is the time from the write in the cell until the " +
		"project shows it. The changes of a storm are spread over the same number of deployments at each size.")
	t.note("Takeover: from the kill of the replica that has the project until the project shows a change that happens right after the kill.")
	return t
}

// costs is the table of what an added deployment costs.
func (s *scaleReports) costs() *report {
	t := newReport(s.cmd, "Cost of an added deployment", s.header()...)
	s.row(t, "CPU time: all processes", func(r *scaleResult) (string, float64) { return millis(r.cpu.total()), r.cpu.total().Seconds() })
	s.processes(t, "", func(r *scaleResult) cpuTimes { return r.cpu })
	for _, at := range []string{directPlane, hubPlane, "cells"} {
		s.row(t, "writes: "+at, func(r *scaleResult) (string, float64) { return fmt.Sprintf("%.1f", r.writes[at]), r.writes[at] })
	}
	s.row(t, "CPU time of a change in a storm: all processes", func(r *scaleResult) (string, float64) {
		return millis(r.stormCPU.total()), r.stormCPU.total().Seconds()
	})
	s.processes(t, "storm: ", func(r *scaleResult) cpuTimes { return r.stormCPU })
	for _, at := range []string{"project", "hub", "cells"} {
		s.row(t, "bytes: "+at, func(r *scaleResult) (string, float64) { return fmt.Sprintf("%.1f kB", r.bytes[at]/1000), r.bytes[at] })
	}
	t.note("CPU time, writes (with Events) and bytes (as JSON, without Pods and Events) of the added deployments until the " +
		"hub is at rest, divided by their number.")
	return t
}

// processes adds the rows of processes that take 2 ms or more, the most expensive first.
func (s *scaleReports) processes(into *report, prefix string, of func(*scaleResult) cpuTimes) {
	names := map[string]time.Duration{}
	for _, r := range s.results {
		for name, took := range of(r) {
			names[name] = max(names[name], took)
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(names),
		func(a, b string) int { return cmp.Or(cmp.Compare(names[b], names[a]), strings.Compare(a, b)) }) {
		if names[name] >= 2*time.Millisecond {
			s.row(into, prefix+name, func(r *scaleResult) (string, float64) { return millis(of(r)[name]), of(r)[name].Seconds() })
		}
	}
}

// memory is the table of memory at rest.
func (s *scaleReports) memory() *report {
	t := newReport(s.cmd, "Memory at rest", append(s.header(), "per further deployment")...)
	names := map[string]int{}
	for _, r := range s.results {
		for name, used := range r.memory {
			names[name] = max(names[name], used)
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(names),
		func(a, b string) int { return cmp.Or(cmp.Compare(names[b], names[a]), strings.Compare(a, b)) }) {
		s.row(t, name, func(r *scaleResult) (string, float64) {
			return fmt.Sprintf("%d MiB", r.memory[name]>>20), float64(r.memory[name])
		})
		first, last := s.results[0], s.results[len(s.results)-1]
		further := "-"
		if last.deployments > first.deployments {
			further = fmt.Sprintf("%d kB", (last.memory[name]-first.memory[name])/(last.deployments-first.deployments)/1000)
		}
		row := &t.rows[len(t.rows)-1]
		*row = append(*row, further)
	}
	return t
}

// header has a column for each size, and one for the ratio of the last to the first.
func (s *scaleReports) header() []string {
	header := []string{"deployments"}
	for _, r := range s.results {
		header = append(header, fmt.Sprint(r.deployments))
	}
	return append(header, "largest to smallest")
}

// row adds a row of the value of each result; the number of the value is 0 if there is no ratio.
func (s *scaleReports) row(into *report, name string, of func(*scaleResult) (text string, number float64)) {
	row := []string{name}
	var numbers []float64
	for _, r := range s.results {
		text, number := of(r)
		row, numbers = append(row, text), append(numbers, number)
	}
	compared := "-"
	if len(numbers) > 1 && numbers[len(numbers)-1] > 0 {
		compared = ratio(numbers[len(numbers)-1], numbers[0])
	}
	into.add(append(row, compared)...)
}
