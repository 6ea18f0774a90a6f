// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"slices"
	"time"
)

// Health is the state of the cells of a city, as far as the hub knows it.
type Health string

// States of a city.
const (
	// InDoubt: whether a cell of the city runs Instances is not known.
	InDoubt Health = ""
	// Able: a cell of the city can run more Instances.
	Able Health = "Able"
	// Closed: cells of the city are reached, and all of them are cordoned or tainted.
	Closed Health = "Closed"
	// Lost: no cell of the city is reached, while other cells of the hub are.
	Lost Health = "Lost"
	// Empty: the city has no cell.
	Empty Health = "Empty"
)

// Health returns the state of the cells of a city. A cell that is not reached is lost when it could have answered; one whose
// agent does not run is in doubt.
func (c Cells) Health(city string, now time.Time) Health {
	if !c.AnyReady() {
		return InDoubt
	}
	all := c.Of(city)
	lost, closed := 0, 0
	for i := range all {
		cell := &all[i]
		remaining, unreached := c.UntilLost(cell, now, 0)
		switch {
		case unreached && remaining == 0:
			lost++
		case !cell.Ready || cell.Agent.Down:
		case cell.Cordoned || cell.Tainted:
			closed++
		default:
			return Able
		}
	}
	switch {
	case len(all) == 0:
		return Empty
	case lost+closed < len(all):
		return InDoubt
	case closed > 0:
		return Closed
	}
	return Lost
}

// Held reports whether an operator holds failovers of a city.
func (c Cells) Held(city string) bool {
	return slices.ContainsFunc(c.Of(city), func(cell Cell) bool { return cell.Held })
}
