// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// readyPlanes are those whose writes are counted: where a consumer writes, Karmada's, and the cell.
var readyPlanes = []string{plane, hubPlane, cellPlane}

// aggregatedWrite is a kind of write that was made more than once.
type aggregatedWrite struct{ plane, resource, verb, user string }

// writeCounts are how many writes of each kind were made per object.
type writeCounts map[aggregatedWrite]float64

// writesSince are the writes for each of n objects, without those of Leases and Events, and without those that were refused.
func (s *stage) writesSince(begin time.Time, n int) (writeCounts, error) {
	counts := writeCounts{}
	for _, plane := range readyPlanes {
		writes, err := s.federation.Writes(plane, begin)
		if err != nil {
			return nil, err
		}
		for _, write := range writes {
			switch write.Resource {
			case "coordination.k8s.io/leases", "/events", "events.k8s.io/events":
				continue
			}
			verb := write.Verb
			if write.Code >= 400 {
				verb += fmt.Sprintf(" (%d)", write.Code)
			}
			counts[aggregatedWrite{plane, write.Resource, verb, write.User}] += 1 / float64(n)
		}
	}
	return counts, nil
}

// of is how many writes a plane had.
func (w writeCounts) of(plane string) float64 {
	var sum float64
	for write, count := range w {
		if write.plane == plane {
			sum += count
		}
	}
	return sum
}

// rows are the kinds of writes, those of one plane together, the most frequent first. Those of one object in ten or fewer are left out.
func (w writeCounts) rows() [][]string {
	var kinds []aggregatedWrite
	for write, count := range w {
		if count > 0.1 {
			kinds = append(kinds, write)
		}
	}
	slices.SortFunc(kinds, func(a, b aggregatedWrite) int {
		return cmp.Or(cmp.Compare(slices.Index(readyPlanes, a.plane), slices.Index(readyPlanes, b.plane)), cmp.Compare(w[b], w[a]),
			strings.Compare(a.resource+a.verb+a.user, b.resource+b.verb+b.user))
	})
	rows := make([][]string, 0, len(kinds))
	for _, kind := range kinds {
		rows = append(rows, []string{kind.plane, kind.user, kind.verb, strings.TrimPrefix(kind.resource, "/"), fmt.Sprintf("%.1f", w[kind])})
	}
	return rows
}

// hubProcesses are those that serve the hub.
var hubProcesses = []string{"hub-kube-apiserver", controllerManager, "karmada-scheduler", "karmada-webhook", replica}

// cpuTimes are what processes took, by name.
type cpuTimes map[string]time.Duration

// cpu is the CPU time that the processes of the federation and the add-on have taken. It leaves out those that cannot be read.
func (s *stage) cpu() cpuTimes {
	names := []string{replica, agent}
	for _, process := range s.federation.Status() {
		names = append(names, process.Name)
	}
	used := cpuTimes{}
	for _, name := range names {
		if took, err := cpuOf(s.pid(name)); err == nil {
			used[name] = took
		}
	}
	return used
}

// since is what each process took after before.
func (c cpuTimes) since(before cpuTimes) cpuTimes {
	since := cpuTimes{}
	for name, used := range c {
		since[name] = used - before[name]
	}
	return since
}

// each is the share of one of n.
func (c cpuTimes) each(n int) cpuTimes {
	each := cpuTimes{}
	for name, used := range c {
		each[name] = used / time.Duration(n)
	}
	return each
}

func (c cpuTimes) sum(names []string) time.Duration {
	var sum time.Duration
	for _, name := range names {
		sum += c[name]
	}
	return sum
}

// named is what a row of costRows is about.
func (c cpuTimes) named(row string) time.Duration {
	switch row {
	case "all":
		return c.sum(slices.Collect(maps.Keys(c)))
	case "hub":
		return c.sum(hubProcesses)
	default:
		return c[row]
	}
}

// costRows compare the CPU time of one object with that of the floor in the same surroundings: all processes, those of the hub, and each
// that takes more than a millisecond.
func costRows(around string, floor, ours cpuTimes) [][]string {
	row := func(name string, floor, ours time.Duration) []string {
		return []string{around, name, millis(floor), millis(ours), ratio(ours.Seconds(), floor.Seconds())}
	}
	names := slices.SortedFunc(maps.Keys(ours), func(a, b string) int { return cmp.Or(cmp.Compare(ours[b], ours[a]), strings.Compare(a, b)) })
	rows := [][]string{row("all", floor.sum(names), ours.sum(names)), row("hub", floor.sum(hubProcesses), ours.sum(hubProcesses))}
	for _, name := range names {
		if ours[name] > time.Millisecond {
			rows = append(rows, row(name, floor[name], ours[name]))
		}
	}
	return rows
}
