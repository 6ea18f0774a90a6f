// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"maps"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// view is the content of one list of all Leases.
type view struct {
	// record is nil if it does not exist.
	record   *coordinationv1.Lease
	division division
	// replicas have a Lease, by their names.
	replicas map[string]*coordinationv1.Lease
}

func newView(leases []coordinationv1.Lease, count int) (view, error) {
	v := view{division: make(division, count), replicas: map[string]*coordinationv1.Lease{}}
	for i := range leases {
		lease := &leases[i]
		if replica, found := strings.CutPrefix(lease.Name, leasePrefix); found {
			v.replicas[replica] = lease
		}
		if lease.Name != recordName {
			continue
		}
		var err error
		if v.division, err = parseDivision(lease.Annotations[annotationDivision], count); err != nil {
			return view{}, err
		}
		v.record = lease
	}
	return v, nil
}

// isNew reports whether a replica may still have shards by an earlier record, which was deleted. Each must see its record
// to own shards, so that all have stopped when a Lease's time has passed. The first division has waited for all later ones.
func (r *Replica) isNew(record *coordinationv1.Lease) bool {
	return record.Annotations[annotationDivision] == "" && r.now().Before(r.recordSeen.Add(r.at.lease))
}

// sighting is the time since which a replica's Lease has been seen unchanged.
type sighting struct {
	// version is empty if there is no Lease.
	version string
	since   time.Time
	lasts   time.Duration
}

func (s sighting) ends() time.Time { return s.since.Add(s.lasts) }

// sightings holds the sightings of the other replicas, by name.
type sightings map[string]sighting

// update adds a view that was answered at some time. A replica with shards and without a Lease counts as if it had one
// that lasts as long as this replica's: its Lease was deleted by mistake. Leases that end soon last less.
func (s sightings) update(v view, answered time.Time, at timings, endsSoon func(replica string, lease *coordinationv1.Lease) bool) {
	lasts := at.lease
	for _, replica := range v.division {
		if _, found := v.replicas[replica]; !found && replica != "" {
			s.see(replica, sighting{"", answered, lasts})
		}
	}
	for replica, lease := range v.replicas {
		seen := sighting{string(lease.UID) + "/" + lease.ResourceVersion, answered, lasts}
		// Not longer than its own: who may write a Lease must not hold shards for as long as it likes.
		if seconds := lease.Spec.LeaseDurationSeconds; seconds != nil {
			seen.lasts = min(max(time.Duration(*seconds)*time.Second, 0), lasts)
		}
		if endsSoon(replica, lease) {
			seen.lasts = at.shortLease
		}
		s.see(replica, seen)
	}
	maps.DeleteFunc(s, func(replica string, _ sighting) bool {
		return v.replicas[replica] == nil && !slices.Contains(v.division, replica)
	})
}

func (s sightings) see(replica string, seen sighting) {
	if before, found := s[replica]; !found || before.version != seen.version {
		s[replica] = seen
	}
}

// running are the replicas whose Leases had not ended when the last view was requested.
func (s sightings) running(asked time.Time) []string {
	var names []string
	for replica, seen := range s {
		if asked.Before(seen.ends()) {
			names = append(names, replica)
		}
	}
	return names
}
