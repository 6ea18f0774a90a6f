// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package fair

// Turns takes things out of those that wait: one of each party, then a second one of each, until it has most things, or each of
// every party. A party that has many things takes what the others leave. It deletes the parties without further things from waiting.
func Turns[Party comparable, Thing any](waiting map[Party][]Thing, most, each int) []Thing {
	var taken []Thing
	for round := 0; round < each && len(waiting) > 0; round++ {
		for party, things := range waiting {
			if len(taken) >= most {
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
