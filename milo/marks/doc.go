// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package marks keeps a mark on the hub for each project that has Workloads or is about to get its first one: a ConfigMap without data
// in the namespace of the Leases. Admission makes it, on any replica, and the replica that owns the project's shard hears of it by a
// watch. The owner makes it too when it finds Workloads without one, and alone removes it. So the projects that have to be watched are
// known without a request to any of them, also to a replica that takes them over.
//
// Why no Workload is missed when the mark goes: the owner first notes in the mark that it is leaving, and deletes it only in that
// version, minutes later, after it has asked the project once more. Who admits a Workload meanwhile takes that note away, and the
// deletion is refused. A request that was admitted before the note could be seen has been stored, or has failed, long before.
package marks
