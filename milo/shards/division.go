// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// division holds the replica that has each shard. "": no replica.
type division []string

// parseDivision reads the division of a number of shards. A shard that is not named is nobody's.
func parseDivision(text string, count int) (division, error) {
	d := make(division, count)
	index, err := v1alpha.ParseShards(text)
	if err != nil {
		return nil, fmt.Errorf("parse the division of the shards (delete Lease %s; it is recreated): %w", recordName, err)
	}
	for replica, held := range index {
		for _, shard := range held {
			if shard < 0 || shard >= count {
				continue
			}
			if d[shard] != "" {
				return nil, fmt.Errorf("shard %d is both %s's and %s's: delete Lease %s; it is recreated", shard, d[shard], replica, recordName)
			}
			d[shard] = replica
		}
	}
	return d, nil
}

// String is the division as the record has it: the shards of each replica.
func (d division) String() string {
	index := map[string][]int{}
	for shard, replica := range d {
		if replica != "" {
			index[replica] = append(index[replica], shard)
		}
	}
	// A map of strings and numbers can be marshalled.
	text, _ := json.Marshal(index)
	return string(text)
}

// shardsOf are the shards of a replica.
func (d division) shardsOf(replica string) []int {
	var held []int
	for shard, holder := range d {
		if holder == replica {
			held = append(held, shard)
		}
	}
	return held
}

// without is the division without the replicas that do not run.
func (d division) without(runs func(replica string) bool) division {
	remaining := slices.Clone(d)
	for shard, holder := range remaining {
		if holder != "" && !runs(holder) {
			remaining[shard] = ""
		}
	}
	return remaining
}

// share is the number of shards that a replica should have: 0 for a replica that is not a member. All members have the
// same number; the remainder goes to the replicas that already hold most shards, so that as few shards as possible
// move.
func (d division) share(replica string, members []string) int {
	if !slices.Contains(members, replica) {
		return 0
	}
	ranked := slices.SortedFunc(slices.Values(members), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(d.shardsOf(b)), len(d.shardsOf(a))), cmp.Compare(a, b))
	})
	share := len(d) / len(ranked)
	if slices.Index(ranked, replica) < len(d)%len(ranked) {
		share++
	}
	return share
}

// balanced is the division among the members after a replica has released the shards in excess of its share, or taken
// unowned shards that it lacks.
func (d division) balanced(replica string, members []string) division {
	next, held, share := slices.Clone(d), d.shardsOf(replica), d.share(replica, members)
	for _, shard := range held[min(share, len(held)):] {
		next[shard] = ""
	}
	missing := share - len(held)
	for _, shard := range d.shardsOf("") {
		if missing > 0 {
			next[shard] = replica
			missing--
		}
	}
	return next
}
