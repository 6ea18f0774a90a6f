// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import "slices"

// Reach reports whether a replica reaches the servers that its shards depend on. A replica that does not cannot serve
// its shards.
type Reach int

// Values of Reach.
const (
	// Doubtful is between the others: the replica keeps its shards, and others do not rely on it.
	Doubtful Reach = iota
	// Reached: the last question was answered, and all questions before it for long enough.
	Reached
	// Unreached: there has been no answer for so long that another replica, if it has an answer, should have the shards.
	Unreached
)

// Values of annotationReach. Without it, a replica is Doubtful, or has a version that does not report its Reach.
const (
	annotationReach = "compute.datumapis.com/milo"
	reached         = "Reached"
	cutOff          = "CutOff"
)

// IsCutOff reports whether this replica has left its shards to other replicas because they reach servers that it does
// not.
func (r *Replica) IsCutOff() bool { return r.isCutOff.Load() }

// standing is the Reach of this replica that it writes into its Lease.
func (r *Replica) standing() string {
	switch {
	case r.IsCutOff():
		return cutOff
	case r.reach() == Reached:
		return reached
	default:
		return ""
	}
}

func (r *Replica) reach() Reach {
	if r.options.Reach == nil {
		return Doubtful
	}
	return r.options.Reach()
}

// updateCutOff decides whether this replica is cut off: it gets no answers, and another replica reports that it does. If no
// replica gets answers, all stay as they are. A replica is no longer cut off when it has been answered for long enough.
func (r *Replica) updateCutOff(v view, running []string) {
	switch reach := r.reach(); {
	case r.IsCutOff() && reach == Reached:
		r.isCutOff.Store(false)
		r.options.Log.Info("Lookups of projects are answered again; this replica takes part in the division of the shards")
	case !r.IsCutOff() && reach == Unreached && slices.ContainsFunc(running, func(replica string) bool {
		return replica != r.name && r.knows(v, replica) && v.says(replica) == reached
	}):
		r.isCutOff.Store(true)
		r.options.Log.Info("Lookups of projects are answered for other replicas and not for this one, which leaves its shards " +
			"to them: see its network and its credential")
	}
}

// knows reports whether a Lease is of a replica that runs, as far as this replica can find out: it has answered a ping.
// A replica without pings believes every Lease.
func (r *Replica) knows(v view, replica string) bool {
	return replica == r.name || r.options.Peers == nil || r.validity.knows(replica, v.replicas[replica])
}

// members are the replicas that divide the shards: the running replicas that answer and are not cut off, or all that
// answer if every one is cut off.
func (r *Replica) members(v view, running []string) []string {
	running = slices.DeleteFunc(slices.Clone(running), func(replica string) bool { return !r.knows(v, replica) })
	members := slices.DeleteFunc(slices.Clone(running), func(replica string) bool {
		if replica == r.name {
			return r.IsCutOff()
		}
		return v.says(replica) == cutOff
	})
	if len(members) == 0 {
		return running
	}
	return members
}

// says returns the Reach that a replica reports in its Lease.
func (v view) says(replica string) string {
	if lease := v.replicas[replica]; lease != nil {
		return lease.Annotations[annotationReach]
	}
	return ""
}
