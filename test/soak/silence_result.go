// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// SilenceResult is the result of a soak of silences.
type SilenceResult struct {
	Seed uint64
	Rows []SilenceRow
}

// SilenceRow has the changes during one silence.
type SilenceRow struct {
	Kind, Cell string
	Lasts      time.Duration
	// Requests is how many were sent.
	Requests int
	// Ready is how many Instances were Ready before, Fewest how many at least, and Replaced how many were replaced or moved.
	Ready, Fewest, Replaced int

	low      string
	observed observed
	// after is how long after the silence all was as before, and left what was not.
	after time.Duration
	left  error
}

// Row is the result as a row of the table in docs/reliability.md.
func (r *SilenceRow) Row() string {
	broken := "–"
	if all := r.Broken(); len(all) > 0 {
		broken = strings.Join(all, "; ")
	}
	return fmt.Sprintf("| %s | %s | %.0f s | %d of %d | %d of %d | %d | %.0f s | %s |", r.Kind, r.Cell, r.Lasts.Seconds(),
		len(r.observed.failures), r.Requests, r.Fewest, r.Ready, r.Replaced, r.after.Seconds(), broken)
}

// Broken are the promises that the silence has broken.
func (r *SilenceRow) Broken() []string {
	broken := append(r.observed.failedRequests(), r.observed.changedNames()...)
	if r.Requests == 0 {
		broken = append(broken, "no request was sent")
	}
	if r.Fewest < r.Ready {
		broken = append(broken, fmt.Sprintf("only %d of %d Instances were Ready, at %s", r.Fewest, r.Ready, r.low))
	}
	if r.Replaced > 0 {
		broken = append(broken, fmt.Sprintf("%d Instances were replaced or moved", r.Replaced))
	}
	if len(r.observed.withdrawn) > 0 {
		broken = append(broken, "ResourceClaims were withdrawn: "+strings.Join(r.observed.withdrawn, ", "))
	}
	if r.left != nil {
		broken = append(broken, "after the silence it is not as before: "+strings.ReplaceAll(r.left.Error(), "\n", ", "))
	}
	return broken
}

// failedRequests names the cells whose requests failed. No silence takes an address away, so that none may.
func (o *observed) failedRequests() []string {
	of := map[string][]failure{}
	for _, one := range o.failures {
		of[one.cell] = append(of[one.cell], one)
	}
	var lines []string
	for _, cell := range slices.Sorted(maps.Keys(of)) {
		to := "to addresses of cell " + cell
		if cell == "" {
			to = "without an address"
		}
		lines = append(lines, fmt.Sprintf("%d requests %s failed, the first after %.0f s: %v", len(of[cell]), to,
			of[cell][0].at.Seconds(), of[cell][0].err))
	}
	return lines
}

// changedNames are the changes of a name. An address may leave it after a request to its cell has failed.
func (o *observed) changedNames() []string {
	var lines []string
	for _, change := range o.changes {
		verb := "got"
		if change.lost {
			verb = "lost"
		}
		before := func(f failure) bool { return f.cell == change.cell && f.at <= change.at }
		if !change.lost || !slices.ContainsFunc(o.failures, before) {
			lines = append(lines, fmt.Sprintf("%s %s %s of cell %s after %.0f s", change.source, verb, change.address, change.cell,
				change.at.Seconds()))
		}
	}
	return lines
}

// Err has each silence with what it has broken.
func (r *SilenceResult) Err() error {
	var failed []error
	for i := range r.Rows {
		if broken := r.Rows[i].Broken(); len(broken) > 0 {
			failed = append(failed, fmt.Errorf("seed %d: %s:\n  %s", r.Seed, strings.TrimSpace(r.Rows[i].Kind+" "+r.Rows[i].Cell),
				strings.Join(broken, "\n  ")))
		}
	}
	return errors.Join(failed...)
}
