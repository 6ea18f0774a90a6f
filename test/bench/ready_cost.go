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

// readyPlanes are the planes whose writes are counted: the consumer's, Karmada's, and the cell.
var readyPlanes = []string{plane, hubPlane, cellPlane}

// aggregatedWrite identifies a kind of write.
type aggregatedWrite struct{ plane, resource, verb, user string }

// writeCounts holds the number of writes of each kind per object.
type writeCounts map[aggregatedWrite]float64

// writesSince returns the writes to planes for each of n objects. Writes of Leases and Events are left out.
func (s *stage) writesSince(begin time.Time, n int, planes []string) (writeCounts, error) {
	counts := writeCounts{}
	for _, plane := range planes {
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

// of returns the number of writes in a plane.
func (w writeCounts) of(plane string) float64 {
	var sum float64
	for write, count := range w {
		if write.plane == plane {
			sum += count
		}
	}
	return sum
}

// rows returns the kinds of writes, by plane, the most frequent first. Writes for a tenth of the objects or fewer are
// left out.
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

// hubProcesses are the processes that serve the hub.
var hubProcesses = []string{"hub-kube-apiserver", "karmada-controller-manager", "karmada-scheduler", "karmada-webhook", replica}

// cpuTimes holds the CPU times of processes, by name.
type cpuTimes map[string]time.Duration

const (
	// replica is the first process of the add-on, and agent its process in a cell.
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

// pids returns the ids of the running processes by name. All agents have one name.
func (s *stage) pids() map[string][]int {
	pids := map[string][]int{agent: s.agentPIDs}
	for i := range s.addOn.Replicas() {
		if id, err := s.addOn.ProcessID(i); err == nil && id != 0 {
			pids[fmt.Sprintf("karmada-compute-%d", i)] = []int{id}
		}
	}
	for _, process := range s.federation.Status() {
		if process.Running {
			pids[process.Name] = []int{process.PID}
		}
	}
	return pids
}

// cpu returns the CPU time of the processes of the federation and the add-on. Processes that cannot be read are left
// out.
func (s *stage) cpu() cpuTimes {
	used := cpuTimes{}
	for name, pids := range s.pids() {
		for _, pid := range pids {
			if took, err := cpuOf(pid); err == nil {
				used[name] += took
			}
		}
	}
	return used
}

// since returns the additional CPU time of each process since before.
func (c cpuTimes) since(before cpuTimes) cpuTimes {
	since := cpuTimes{}
	for name, used := range c {
		since[name] = used - before[name]
	}
	return since
}

// each returns the CPU time per object, for n objects.
func (c cpuTimes) each(n int) cpuTimes {
	each := cpuTimes{}
	for name, used := range c {
		each[name] = used / time.Duration(n)
	}
	return each
}

// total returns the CPU time of all processes.
func (c cpuTimes) total() time.Duration {
	var sum time.Duration
	for _, used := range c {
		sum += used
	}
	return sum
}

func (c cpuTimes) sum(names []string) time.Duration {
	var sum time.Duration
	for _, name := range names {
		sum += c[name]
	}
	return sum
}

// costRows compare the CPU time per object with the floor's: of all processes, of the hub's processes,
// and of each process that takes more than a millisecond.
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
