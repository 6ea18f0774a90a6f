// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// floorName is the name of the floor in the tables: what Karmada does without the add-on.
const floorName = "floor: StatefulSet"

// carriedReports are the tables of one run.
type carriedReports struct{ latency, rate, writes *report }

func newCarriedReports(cmd *cobra.Command) *carriedReports {
	return &carriedReports{
		latency: newReport(cmd, "A change of one Instance on its way from the cell to the hub",
			"interpreted by", "Instances", "updates", "failed", "written in the cell, p50", "then on the hub after, p50", "p99", "ratio of p50 to the floor", "of p99"),
		rate: newReport(cmd, "Status updates a second from one cell to the hub",
			"interpreted by", "Instances", "deployments at once", "updates", "failed", "updates/s", "ratio to the floor"),
		writes: newReport(cmd, "What a change of one Instance has written",
			"interpreted by", "Instances", "writes", "bytes", "ratio to the floor", "in the cell", "Work", "ResourceBinding", "on the hub", "CPU of karmada-controller-manager", "CPU of the add-on"),
	}
}

// write writes the tables. Each row is compared with the floor of the same number of concurrent objects.
func (r *carriedReports) write(out io.Writer, o *interpreterOptions, done []*carriage) error {
	floors := map[int]*carriage{}
	for _, c := range done {
		if c.name == floorName {
			floors[c.atOnce] = c
		}
	}
	for _, c := range done {
		floor := floors[c.atOnce]
		r.latency.add(c.latencyRow(floor)...)
		r.rate.add(c.rateRow(floor)...)
		r.writes.add(c.writesRow(floor)...)
	}
	r.addNotes(o)
	for _, report := range []*report{r.latency, r.rate, r.writes} {
		if err := report.write(out); err != nil {
			return err
		}
	}
	return nil
}

func (r *carriedReports) addNotes(o *interpreterOptions) {
	r.latency.note("One deployment, one update after the other: one Instance's condition Ready changes, and the report that a cell's agent would make of it is applied in the cell as the agent does. The next follows when a watch of the hub's object shows it. Measured after %d updates of each deployment as a warm-up.", o.warmup)
	r.latency.note("Failed: not on the hub %s after it was written in the cell. Percentiles are of those that were not. After %d in a row a deployment is given up.", o.deadline, o.giveUp)
	r.latency.note("Floor: a StatefulSet, which Karmada interprets in Go by itself, with the same policy and the same way of writing, and a status of six numbers. There is one for each number of objects at once; a row is compared with that of its own number.")
	r.latency.note("The cell's agent is stopped: it paces its reports. Of a deployment with InstanceSlices an Instance in one of them changes: its slice and the deployment are written, and it is on the hub when the ResourceBinding of the slice shows it.")
	r.rate.note("All deployments at once, for %s and each at least %d times: it is updated again as soon as its last update is on the hub. The time is that from the first write to the last arrival.", o.duration, leastTogether)
	r.writes.note("For the updates of the first table: every new version of an object that a watch shows, in JSON as it is stored, managed fields included, divided by the updates. In the cell the first write is the agent's; all others are Karmada's.")
	r.writes.note("CPU times are those of whole processes, so that what they do besides is in them, for one update.")
}

// latencyRow compares with a floor, which may be the row's own.
func (c *carriage) latencyRow(floor *carriage) []string {
	writing, took, bare := c.result.writing.summary(), c.result.latency.summary(), floor.result.latency.summary()
	row := append(c.begin(), c.result.alone.cells()...)
	if took.count == 0 {
		return append(row, none(5)...)
	}
	return append(row, millis(writing.p50), millis(took.p50), millis(took.p99),
		ratio(took.p50.Seconds(), bare.p50.Seconds()), ratio(took.p99.Seconds(), bare.p99.Seconds()))
}

func (c *carriage) rateRow(floor *carriage) []string {
	row := append(c.begin(), strconv.Itoa(c.atOnce))
	row = append(row, c.result.together.cells()...)
	return append(row, fmt.Sprintf("%.2f", c.result.perSecond), ratio(c.result.perSecond, floor.result.perSecond))
}

func (c *carriage) writesRow(floor *carriage) []string {
	if c.result.written == nil {
		return append(c.begin(), none(9)...)
	}
	tried := c.result.alone.tried
	total := c.result.total()
	row := append(c.begin(), perUpdate(total.writes, tried), kilobytes(total.bytes, tried),
		ratio(float64(total.bytes)/float64(tried), float64(floor.result.total().bytes)/float64(max(1, floor.result.alone.tried))))
	for _, kind := range []string{inCell, inWork, inBinding, onHub} {
		w := c.result.written[kind]
		row = append(row, perUpdate(w.writes, tried)+" × "+kilobytes(w.bytes, max(1, int(w.writes))))
	}
	for _, process := range []string{controllerManager, replica} {
		row = append(row, millis(c.result.cpu[process]/time.Duration(tried)))
	}
	return row
}

// begin is what all rows begin with.
func (c *carriage) begin() []string {
	if c.name == floorName {
		return []string{fmt.Sprintf("%s, %d at once", c.name, c.atOnce), "-"}
	}
	return []string{c.name, strconv.Itoa(c.instances)}
}

// cells are how many updates there were and how many of them failed.
func (o *outcome) cells() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return []string{strconv.Itoa(o.tried), strconv.Itoa(o.tried - o.arrived)}
}

// none are empty cells of a table.
func none(cells int) []string {
	row := make([]string, cells)
	for i := range row {
		row[i] = "-"
	}
	return row
}

// perUpdate is a count per update.
func perUpdate(count int64, updates int) string {
	return fmt.Sprintf("%.1f", float64(count)/float64(updates))
}

// kilobytes is a size per update or write, in kB.
func kilobytes(bytes int64, of int) string {
	return fmt.Sprintf("%.1f kB", float64(bytes)/1000/float64(of))
}
