// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"testing"
	"time"
)

// TestUnreached: the clock of a lost cell counts from when it could have answered.
func TestUnreached(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	lost := Cell{Name: "lost", Since: at(10)}
	for name, test := range map[string]struct {
		others Cells
		// rest is how long it does not count as lost yet in minute 20 after 5 minutes; -1: it does not.
		rest time.Duration
	}{
		"another one is reached":          {Cells{{Ready: true, Since: at(0)}}, 0},
		"no cell is":                      {Cells{{Since: at(10)}}, -1},
		"it is the only one":              {nil, -1},
		"all were lost a moment ago":      {Cells{{Ready: true, Since: at(20)}, {Since: at(10)}}, 5*time.Minute + reachAgain},
		"all were lost, three minutes on": {Cells{{Ready: true, Since: at(17)}}, 2*time.Minute + reachAgain},
		"all were lost, long ago":         {Cells{{Ready: true, Since: at(12)}}, 0},
		"one was lost as well, but not all": {
			Cells{{Ready: true, Since: at(19)}, {Ready: true, Since: at(0)}}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rest, unreached := append(Cells{lost}, test.others...).UntilLost(&lost, at(20), 5*time.Minute)
			if unreached != (test.rest >= 0) || unreached && rest != test.rest {
				t.Errorf("unreached %t, rest %s", unreached, rest)
			}
		})
	}
}
