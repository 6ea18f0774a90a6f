// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package shards divides a fixed number of shards among the replicas of the add-on, so that each shard has one owner at most. At rest
// a replica writes nothing but the renewals of its one Lease, whatever the number of shards.
//
// There are two kinds of Leases on the hub:
//
//   - Each replica has one that it renews. A replica that could not renew it stops all its shards before the Lease ends.
//   - The record says which replica has which shard. It is a Lease only so that no other right is needed; nobody renews it. It
//     is written when a shard changes hands, and only in the version that was read.
//
// Every replica reads all of them, in one list, every second. The rules by which no shard ever has two owners:
//
//  1. A replica starts a shard only after it has itself written its name into the record, and its own Lease counts when the answer
//     arrives. A name that it finds there is not enough, not even its own.
//  2. It stops a shard before it takes its name out of the record, and when it finds that its name is not there.
//  3. It removes the name of another replica only if that one's Lease has not changed for as long as it lasts: from the answer in
//     which this version was seen first, to the question to which the answer still has it. No two clocks are compared.
//  4. Time counts for the holder from the moment at which it sent the renewal that succeeded. So it has stopped when rule 3 is met, and
//     would be seen if it had renewed. Should it come back, rule 1 has it write the record, and one of the two writes is refused.
//  5. A Lease names the record that its replica goes by. Should somebody delete the record, all replicas stop their shards, and nobody
//     takes one until the Leases of all that run name the new record.
//
// A replica that reaches nothing of what its shards are about leaves them to those that do (see Reach). That changes only how many shards
// each should have: whoever gives up or takes one goes by these rules.
package shards
