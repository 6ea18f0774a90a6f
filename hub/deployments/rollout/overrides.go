// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// addOverrides adds the cells of a city where an override policy has changed the newest template, and Instances do not
// have that yet.
func (c *City) addOverrides(existing *v1alpha.WorkloadDeployment, version templates.Version) {
	turns := existing.Spec.Overrides
	c.Turns = len(turns) > 0
	for i := range existing.Status.Indices {
		cell := &existing.Status.Indices[i]
		waiting := naming.Parse(cell.Overridden)
		if len(waiting) == 0 || cell.OverriddenHash == "" || !version.Is(cell.TemplateHash) {
			continue
		}
		c.Overrides = append(c.Overrides, Override{
			Cell: cell.Cell, Template: cell.OverriddenHash, Instances: len(waiting), Sent: version.Is(cell.OverriddenHash),
			Given: slices.ContainsFunc(turns, func(t v1alpha.OverrideTurn) bool {
				return t.Cell == cell.Cell && t.TemplateHash == cell.OverriddenHash
			}),
		})
	}
	slices.SortFunc(c.Overrides, func(a, b Override) int { return strings.Compare(a.Cell, b.Cell) })
}

// Overridden reports whether Instances of a city wait for an override policy.
func Overridden(s *State) bool {
	return slices.ContainsFunc(s.Cities, func(c City) bool { return len(c.Overrides) > 0 })
}

// Cause says why a cell waits to give its Instances a template that it has received outside of a rollout. If that is the
// template of the Workload itself, the cell does not know which of two causes it was.
func (o *Override) Cause() string {
	if o.Sent {
		return "a removed override policy or a restored backup has changed"
	}
	return "an override policy has changed"
}

// overriding is how many Instances the cells of a city may replace for an override policy.
func (c *City) overriding() (count int) {
	for _, o := range c.Overrides {
		if o.Given {
			count += o.Instances
		}
	}
	return count
}

// override gives the next cell its turn for a template that an override policy has changed, and says why the others
// wait. A template of the Workload comes first: its Instances get the override with it.
func (p *planner) override() {
	if !Overridden(p.State) {
		return
	}
	why := p.awaited()
	for i := range p.cities {
		c := &p.cities[i]
		if c.overriding() > 0 {
			p.steps.Turns[c.at] = Turn{OverrideReplacing, c.overrideProgress()}
			continue
		}
		if len(c.Overrides) == 0 {
			continue
		}
		reason := cmp.Or(why, p.againstOverride(c))
		if reason != "" {
			p.steps.Turns[c.at] = Turn{OverrideQueued, fmt.Sprintf("%s the template in cell %s, which %s",
				c.Overrides[0].Cause(), c.Overrides[0].Cell, reason)}
			why = cmp.Or(why, "waits for its turn: the Instances of "+c.Code+" get theirs first")
			continue
		}
		p.giveTurn(c)
		why = "waits for its turn: the Instances of " + c.Code + " get theirs first"
	}
}

// awaited returns why no further cell has its turn for an override; "": the next one has.
func (p *planner) awaited() string {
	if p.Paused {
		return "waits: spec.rollout.paused is set"
	}
	for i := range p.cities {
		c := &p.cities[i]
		switch {
		case c.overriding() > 0:
			return fmt.Sprintf("waits for its turn: in %s, %s", c.Code, c.overrideProgress())
		case c.Turns && c.unavailable > 0 && !c.Unserved:
			return fmt.Sprintf("waits for its turn: %s has had its turn, and %d of its Instances are not Available", c.Code, c.unavailable)
		}
	}
	if len(p.steps.Take) > 0 || p.count(waiting)+p.count(partitioned) > 0 || slices.ContainsFunc(p.cities, isReplacing) {
		return "waits for the end of the rollout of the new template"
	}
	return ""
}

// isReplacing reports whether the cells of a city still replace Instances by the target.
func isReplacing(c facts) bool {
	return c.stage == released && (c.Surge > 0 || c.unfinished > 0 && !c.Unserved)
}

// againstOverride returns why a city has no turn for its override now.
func (p *planner) againstOverride(c *facts) string {
	switch {
	case !c.Observed:
		return "waits: its cells have not reported the last change"
	case p.left < 1:
		return fmt.Sprintf("waits: with one Instance more, %d would be unavailable, and maxUnavailable allows %d; repair them, or raise "+
			"spec.rollout.maxUnavailable", p.MaxUnavailable-p.left+1, p.MaxUnavailable)
	}
	return ""
}

// overrideProgress describes the progress of a city whose cells have their turn for an override.
func (c *facts) overrideProgress() string {
	return fmt.Sprintf("%d of its Instances do not have the template of cell %s yet, %d are not Available",
		c.overriding(), c.Overrides[slices.IndexFunc(c.Overrides, func(o Override) bool { return o.Given })].Cell, c.unavailable)
}

// giveTurn gives the first cell of a city its turn. The cell begins with one Instance.
func (p *planner) giveTurn(c *facts) {
	limit := max(1, p.left)
	if p.Batch > 0 {
		limit = min(limit, p.Batch)
	}
	turn := c.Overrides[0]
	p.steps.Take = append(p.steps.Take, Step{City: c.at, Override: &turn, AtOnce: limit})
	p.steps.Turns[c.at] = Turn{StepTaken, fmt.Sprintf("cell %s gets the template that %s", turn.Cell, turn.Cause())}
}
