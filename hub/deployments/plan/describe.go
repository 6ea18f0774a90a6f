// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// describeLost says which cities of a placement were replaced; "": none.
func describeLost(record []v1alpha.PlacementCity) string {
	var messages []string
	for i := range record {
		if c := &record[i]; c.Phase != v1alpha.CityRunning {
			messages = append(messages, fmt.Sprintf("%s runs the Instances of %s", c.ReplacedBy, c.City))
		}
	}
	return strings.Join(messages, "; ")
}

// DescribeCity describes what happens next to a recorded city of a placement, and what it waits for; "": nothing is about to happen.
func DescribeCity(p *v1alpha.WorkloadPlacement, c *v1alpha.PlacementCity) string {
	if p.Spread == nil || p.Spread.Failover == nil {
		return ""
	}
	switch c.Phase {
	case v1alpha.CityRunning:
		return describeRunning(p.Spread, c)
	case v1alpha.CityLost, v1alpha.CityLeaving:
		if c.Reason == v1alpha.CityServesNothing || c.Reason == "" {
			return fmt.Sprintf("%s runs its Instances; its own ones count as down, and stop when the other cities serve and its cells can be told",
				c.ReplacedBy)
		}
		return fmt.Sprintf("%s runs its Instances; its own ones stop when the other cities serve", c.ReplacedBy)
	case v1alpha.CityAway:
		return describeAway(p.Spread.Failover.StableOrDefault(), c)
	case v1alpha.CityReturning:
		return fmt.Sprintf("gets its Instances again; the ones in %s stop when all of them are Available", c.ReplacedBy)
	}
	return ""
}

func describeRunning(spread *v1alpha.PlacementSpread, c *v1alpha.PlacementCity) string {
	switch {
	case c.Since == nil:
		return ""
	case c.Reason == v1alpha.CityLeftByHand:
		return "is left, as the consumer asks: another candidate runs its Instances as soon as one can"
	case c.Reason == v1alpha.CityNoCapacity:
		return fmt.Sprintf("lacks capacity since %s: from %s on a candidate that has it runs the Instances",
			due(c, 0), due(c, spread.Overflow.AfterOrDefault()))
	}
	return fmt.Sprintf("serves nothing since %s: from %s on another candidate runs its Instances, if one can and no more than a third of "+
		"the cities are lost", due(c, 0), due(c, spread.Failover.AfterOrDefault()))
}

func describeAway(stable time.Duration, c *v1alpha.PlacementCity) string {
	switch {
	case c.Since != nil:
		return fmt.Sprintf("%s runs its Instances; the city gets them again from %s on, when no rollout is in progress and no other city returns",
			c.ReplacedBy, due(c, stable))
	case c.Reason == v1alpha.CityLeftByHand:
		return fmt.Sprintf("%s runs its Instances until the consumer asks for the return", c.ReplacedBy)
	}
	return fmt.Sprintf("%s runs its Instances until the city has been able to run them for %s", c.ReplacedBy, stable)
}

func due(c *v1alpha.PlacementCity, wait time.Duration) string {
	return c.Since.Add(wait).UTC().Format(time.RFC3339)
}
