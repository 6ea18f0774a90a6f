// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming

import "hash/fnv"

// ShardKey names something that exactly one replica owns, by the shard of the key: a project or a cell.
type ShardKey string

// ProjectKey is the key of a project.
func ProjectKey(project string) ShardKey { return ShardKey(project) }

// CellKey is the key of a cell. No project has a name with a slash.
func CellKey(cell string) ShardKey { return ShardKey("cell/" + cell) }

// Shard is the shard of a key, of count shards. It is the same on every replica with the same number of shards.
func (k ShardKey) Shard(count int) int {
	hasher := fnv.New32a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write([]byte(k))
	return int(hasher.Sum32() % uint32(count)) //nolint:gosec // the options of the add-on refuse counts below 1
}
