// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming

import "testing"

// TestShards: which replica owns a project or a cell must not change with the version of the add-on: two versions run
// at the same time during an upgrade.
func TestShards(t *testing.T) {
	for key, want := range map[ShardKey]int{
		ProjectKey("north"): 4, ProjectKey("south"): 10, CellKey("dfw"): 13, CellKey("north"): 9,
	} {
		if got := key.Shard(16); got != want {
			t.Errorf("the shard of %q is %d, not %d", key, got, want)
		}
	}
}
