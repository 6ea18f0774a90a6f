// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package marks keeps a mark on the hub for each project that has Workloads or is about to get its first one: a
// ConfigMap without data in the namespace of the Leases. Admission creates the mark, on any replica, and the replica
// that owns the project's shard watches the marks. The owner also creates the mark when it finds Workloads without one,
// and only the owner deletes it. So every replica, also one that takes projects over, knows which projects to watch
// without a request to any of them.
//
// No Workload is missed when the mark is deleted: the owner first notes in the mark that it is leaving, and deletes it
// only in that version, minutes later, after it has asked the project again. A replica that admits a Workload meanwhile
// removes the note, and the deletion is refused. Requests admitted before the note became visible have been stored, or
// have failed, long before.
package marks
