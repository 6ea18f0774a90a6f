// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package fair

// Turns takes at most count things out of the waiting ones: one of each party, then a second one of each, and so on. A party with many
// things gets what the others leave. It deletes the parties without further things from waiting.
func Turns[Party comparable, Thing any](waiting map[Party][]Thing, count int) []Thing {
	var taken []Thing
	for round := 0; len(waiting) > 0; round++ {
		for party, things := range waiting {
			if len(taken) >= count {
				return taken
			}
			if round >= len(things) {
				delete(waiting, party)
				continue
			}
			taken = append(taken, things[round])
		}
	}
	return taken
}
