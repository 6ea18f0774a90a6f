// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import "slices"

// Reach says whether a replica reaches what its shards are about: without that it can do nothing for them.
type Reach int

// Values of Reach.
const (
	// Doubtful is between the others: the replica keeps what it has, and others do not rely on it.
	Doubtful Reach = iota
	// Reached is that the last question was answered, and all before it for long enough.
	Reached
	// Unreached is that nothing was answered for so long that another replica, if it has an answer, should have the shards.
	Unreached
)

// Values of annotationReach. Without it a replica is in doubt, or of a version that says nothing.
const (
	annotationReach = "compute.datumapis.com/milo"
	reached         = "Reached"
	cutOff          = "CutOff"
)

// IsCutOff says whether this replica has left its shards to others because they reach what it does not.
func (r *Replica) IsCutOff() bool { return r.isCutOff.Load() }

// standing is what a replica says of itself in its Lease.
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

// judge decides whether this replica is cut off: nothing answers it, and another one says that it is answered. When nothing answers
// anybody, all stay as they are. It is back when it has been answered for long enough.
func (r *Replica) judge(v view, running []string) {
	switch reach := r.reach(); {
	case r.IsCutOff() && reach == Reached:
		r.isCutOff.Store(false)
		r.options.Log.Info("Milo answers this replica again; it takes part in the division of the shards")
	case !r.IsCutOff() && reach == Unreached && slices.ContainsFunc(running, func(replica string) bool {
		return replica != r.name && v.says(replica) == reached
	}):
		r.isCutOff.Store(true)
		r.options.Log.Info("Milo answers other replicas and not this one, which leaves its shards to them: see what is between this process and Milo, and its credential")
	}
}

// members are the replicas that divide the shards: those that run and are not cut off, or all that run if every one is.
func (r *Replica) members(v view, running []string) []string {
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

// says is what a replica says of itself.
func (v view) says(replica string) string {
	if lease := v.replicas[replica]; lease != nil {
		return lease.Annotations[annotationReach]
	}
	return ""
}
