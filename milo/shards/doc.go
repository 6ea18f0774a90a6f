// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package shards divides a fixed number of shards among the replicas of the add-on, so that each shard has at most one
// owner. While the division does not change, a replica writes only the renewals of its one Lease, whatever the number
// of shards.
//
// There are two kinds of Leases on the hub:
//
//   - Each replica renews its own. A replica that could not renew it stops all its shards before the Lease ends.
//   - The record holds the owner of each shard. It is a Lease only so that no other permission is needed; no replica renews it. It
//     is written when a shard changes hands, and only in the version that was read.
//
// Every replica lists all of them every second. The rules by which no shard ever has two owners:
//
//  1. A replica starts a shard only after it has itself written its name into the record, and its own Lease counts when the answer
//     arrives. A name that it finds there is not enough, not even its own.
//  2. It stops a shard before it takes its name out of the record, and when it finds that its name is not there.
//  3. It removes the name of another replica only if that one's Lease has not changed for as long as it lasts: from the answer in
//     which this version was seen first, to the question to which the answer still has it. No two clocks are compared.
//  4. Time counts for the holder from the moment at which it sent the renewal that succeeded. So it has stopped when rule 3 is met, and
//     would be seen if it had renewed. Should it return, rule 1 requires it to write the record, and one of the two writes is refused.
//  5. A replica has shards by one record, and stops them when it has not seen this record for as long as it may own shards after a
//     renewal. If the record is deleted, another one is created. A replica takes no shard from a new record until
//     it has observed the record for one Lease duration. So all have seen it, or have stopped. The first installation waits
//     for that as well (docs/decisions/shards.md).
//  6. Replicas that reach each other find a killed one earlier. A replica that has a witness, which is a replica that has accepted its
//     ping, stops its shards also when it has for some time no answer that no replica has asked it to renew its Lease. A
//     witness that hears no ping asks for that, refuses pings, and may go by a shorter time in rule 3 from then on
//     (docs/decisions/shards.md).
//
// Others may write Leases, too, where the policies of the hub are missing (docs/decisions/security-of-the-hub.md). A Lease
// lasts at most as long as the reader's own. Where pings are sent, only replicas that have answered one take part in
// the division.
//
// A replica that cannot reach the servers that its shards depend on leaves them to replicas that can (see Reach). That
// changes only the number of shards of each replica: these rules apply to every release and every takeover.
package shards
