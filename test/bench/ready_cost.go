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

	"github.com/prometheus/procfs"
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

const (
	// replica is the process of the add-on, and agent that of the cell.
	replica = "karmada-compute-0"
	agent   = "karmada-compute-cell"
)

// cpuOf returns the CPU time of a process.
func cpuOf(pid int) (time.Duration, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	stat, err := process.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second)), err
}

// pid is the id of a process of the federation or of the replica, or 0.
func (s *stage) pid(name string) int {
	if name == replica {
		id, err := s.addOn.ProcessID(0)
		if err != nil {
			return 0
		}
		return id
	}
	if name == agent {
		return s.agentPID
	}
	for _, process := range s.federation.Status() {
		if process.Name == name && process.Running {
			return process.PID
		}
	}
	return 0
}

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
