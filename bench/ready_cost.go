// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
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

// readyCosts are the processes whose CPU time is reported, in the order of the columns.
var readyCosts = []struct {
	name      string
	processes []string
}{
	{"hub's apiserver", []string{"hub-kube-apiserver"}},
	{"Karmada", []string{controllerManager, "karmada-scheduler", "karmada-webhook"}},
	{"ours", []string{replica}},
}

// cpu is the CPU time that each of readyCosts and, as the last one, all processes of the federation have taken.
func (s *stage) cpu() []time.Duration {
	used := make([]time.Duration, len(readyCosts)+1)
	for i, cost := range readyCosts {
		for _, name := range cost.processes {
			used[i] += s.cpuOf(name)
		}
	}
	names := []string{replica}
	for _, process := range s.federation.Status() {
		names = append(names, process.Name)
	}
	for _, name := range names {
		used[len(readyCosts)] += s.cpuOf(name)
	}
	return used
}

// cpuOf is 0 for a process that cannot be read.
func (s *stage) cpuOf(name string) time.Duration {
	took, err := cpuOf(s.pid(name))
	if err != nil {
		return 0
	}
	return took
}

