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

// addOnUser is the user of the add-on on the hub.
const addOnUser = "system:serviceaccount:karmada-system:karmada-compute"

// rolloutResult is the result of one rollout.
type rolloutResult struct {
	took   time.Duration
	cpu    cpuTimes
	writes hubWrites
	// everywhere are the writes to all planes per Instance.
	everywhere writeCounts
}

// rolloutResults are the results of all rounds.
type rolloutResults struct{ floor, bare, ours []rolloutResult }

// hubWrites holds the number of writes of each kind.
type hubWrites map[aggregatedWrite]int

// hubWrites returns the writes to the hub since begin. Leases, Events, the status of Clusters and refused writes are
// left out.
func (b *rolloutBench) hubWrites(begin time.Time) (hubWrites, error) {
	writes, err := b.federation.Writes(hubPlane, begin)
	counts := hubWrites{}
	for _, write := range writes {
		switch {
		case heartbeat(write.Resource), strings.HasSuffix(write.Resource, "/events"), write.Code >= 400:
		default:
			counts[aggregatedWrite{hubPlane, write.Resource, write.Verb, write.User}]++
		}
	}
	return counts, err
}

// allCells stands for all cells together as the plane of a write.
const allCells = "cells"

// allWrites returns the writes to the project, the hub and the cells since begin, per Instance. Karmada's user of a
// cell has the name of the cell.
func (b *rolloutBench) allWrites(begin time.Time) (writeCounts, error) {
	planes := []string{plane, hubPlane}
	for _, cell := range b.cells {
		planes = append(planes, "cell/"+cell.Name)
	}
	each, err := b.writesSince(begin, b.size, planes)
	all := writeCounts{}
	for write, count := range each {
		if strings.HasPrefix(write.plane, "cell/") {
			write.plane = allCells
			for _, cell := range b.cells {
				write.user = strings.TrimSuffix(write.user, "-"+cell.Name)
			}
		}
		all[write] += count
	}
	return all, err
}

// compareWrites returns rows with the kinds of writes of the floor and of ours, by plane, the most frequent first.
func compareWrites(floor, ours writeCounts) [][]string {
	kinds := slices.Collect(maps.Keys(ours))
	for write := range floor {
		if _, both := ours[write]; !both {
			kinds = append(kinds, write)
		}
	}
	order := []string{plane, hubPlane, allCells}
	slices.SortFunc(kinds, func(a, b aggregatedWrite) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.plane), slices.Index(order, b.plane)), cmp.Compare(ours[b], ours[a]),
			cmp.Compare(floor[b], floor[a]),
			strings.Compare(a.resource+a.verb+a.user, b.resource+b.verb+b.user))
	})
	var rows [][]string
	for _, of := range order {
		rows = append(rows, []string{of, "all", "", "", fmt.Sprintf("%.1f", floor.of(of)), fmt.Sprintf("%.1f", ours.of(of))})
		for _, kind := range kinds {
			if kind.plane == of && max(floor[kind], ours[kind]) >= 0.1 {
				rows = append(rows, []string{
					of, kind.user, kind.verb, strings.TrimPrefix(kind.resource, "/"), fmt.Sprintf("%.1f", floor[kind]), fmt.Sprintf("%.1f", ours[kind]),
				})
			}
		}
	}
	return rows
}

// by returns the number of writes of the add-on, or of all other users.
func (w hubWrites) by(addOn bool) int {
	sum := 0
	for write, count := range w {
		if (write.user == addOnUser) == addOn {
			sum += count
		}
	}
	return sum
}

// steps returns the number of changes of a deployment's spec.
func (w hubWrites) steps() int {
	sum := 0
	for write, count := range w {
		if write.user == addOnUser && write.resource == "compute.datumapis.com/workloaddeployments" {
			sum += count
		}
	}
	return sum
}

// kinds returns the kinds of writes, the most frequent first.
func (w hubWrites) kinds() []aggregatedWrite {
	var kinds []aggregatedWrite
	for write := range w {
		kinds = append(kinds, write)
	}
	slices.SortFunc(kinds, func(a, b aggregatedWrite) int {
		return cmp.Or(cmp.Compare(w[b], w[a]), strings.Compare(a.resource+a.verb+a.user, b.resource+b.verb+b.user))
	})
	return kinds
}

// middle returns the result whose duration is the median of an odd number of results, or the lower one of the two in
// the middle.
func middle(results []rolloutResult) rolloutResult {
	sorted := slices.Clone(results)
	slices.SortFunc(sorted, func(a, b rolloutResult) int { return cmp.Compare(a.took, b.took) })
	return sorted[(len(sorted)-1)/2]
}

// spread formats the median and the range of durations.
func spread(results []rolloutResult) string {
	if len(results) == 0 {
		return "-"
	}
	took := func(r rolloutResult) string { return fmt.Sprintf("%.1f s", r.took.Seconds()) }
	shortest := slices.MinFunc(results, func(a, b rolloutResult) int { return cmp.Compare(a.took, b.took) })
	longest := slices.MaxFunc(results, func(a, b rolloutResult) int { return cmp.Compare(a.took, b.took) })
	text := took(middle(results))
	if len(results) > 1 {
		text += fmt.Sprintf(" (%.1f–%.1f)", shortest.took.Seconds(), longest.took.Seconds())
	}
	return text
}

// String describes the last round.
func (r *rolloutResults) String() string {
	last := r.ours[len(r.ours)-1]
	text := fmt.Sprintf("%.1f s, %d writes of the add-on and %d of Karmada to the hub", last.took.Seconds(),
		last.writes.by(true), last.writes.by(false))
	if len(r.floor) > 0 {
		floor := r.floor[len(r.floor)-1]
		bare := r.bare[len(r.bare)-1]
		text += fmt.Sprintf("; floor %.1f s, ratio %s, and %s for bare writes", floor.took.Seconds(),
			ratio(last.took.Seconds(), floor.took.Seconds()), ratio(bare.took.Seconds(), floor.took.Seconds()))
	}
	return text
}

// report adds the rows of a mode.
func (r *rolloutResults) report(into *rolloutReports, mode rolloutMode, b *rolloutBench) {
	ours := middle(r.ours)
	size, per := fmt.Sprint(b.size), func(count, of int) string { return fmt.Sprintf("%.1f", float64(count)/float64(max(1, of))) }
	own, others := ours.writes.by(true), ours.writes.by(false)
	into.writes.add(mode.name, size, fmt.Sprint(ours.writes.steps()), fmt.Sprint(own), fmt.Sprint(others),
		per(own, b.cityCount), per(others, b.cityCount),
		per(own+others, ours.writes.steps()), per(own+others, b.size))
	for _, kind := range ours.writes.kinds() {
		into.kinds.add(mode.name, size, kind.user, kind.verb, strings.TrimPrefix(kind.resource, "/"), fmt.Sprint(ours.writes[kind]))
	}
	var bare writeCounts
	if mode.floor {
		bare = middle(r.floor).everywhere
	}
	for _, row := range compareWrites(bare, ours.everywhere) {
		into.everywhere.add(append([]string{mode.name, size}, row...)...)
	}
	if !mode.floor {
		into.times.add(mode.name, size, "-", "-", "-", spread(r.ours), "-", "-", "-", "-", cpuSeconds(ours.cpu.total()), "-")
		return
	}
	floor, bareWrites := middle(r.floor), middle(r.bare)
	times := func(of rolloutResult) string { return ratio(of.took.Seconds(), floor.took.Seconds()) }
	cpu := func(of rolloutResult) string { return ratio(of.cpu.total().Seconds(), floor.cpu.total().Seconds()) }
	into.times.add(mode.name, size, spread(r.floor), spread(r.bare), times(bareWrites), spread(r.ours), times(ours),
		cpuSeconds(floor.cpu.total()), cpuSeconds(bareWrites.cpu.total()), cpu(bareWrites), cpuSeconds(ours.cpu.total()), cpu(ours))
	rows, bareCPU := costRows(mode.name+", "+size, floor.cpu.each(b.size), ours.cpu.each(b.size)), bareWrites.cpu.each(b.size)
	for _, row := range rows {
		of := bareCPU[row[1]]
		switch row[1] {
		case "all":
			of = bareCPU.total()
		case "hub":
			of = bareCPU.sum(hubProcesses)
		}
		into.costs.rows = append(into.costs.rows, slices.Insert(row, 3, millis(of)))
	}
}

func cpuSeconds(took time.Duration) string { return fmt.Sprintf("%.1f s", took.Seconds()) }

// above returns what remains of CPU times when so many times the times at rest are subtracted.
func (c cpuTimes) above(idle cpuTimes, times float64) cpuTimes {
	above := cpuTimes{}
	for name, used := range c {
		above[name] = max(0, used-time.Duration(float64(idle[name])*times))
	}
	return above
}

// total returns the CPU time of all processes.
func (c cpuTimes) total() time.Duration {
	var sum time.Duration
	for _, used := range c {
		sum += used
	}
	return sum
}
