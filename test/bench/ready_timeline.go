// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// addOnUsers are the users whose reads are in the audit logs, too.
var addOnUsers = []string{"karmada-compute", "system:serviceaccount:karmada-system:karmada-compute"}

// timelineEvent is a request about one object of a subject, in the audit log of a plane.
type timelineEvent struct {
	plane string
	federation.Write
}

// timeline returns the requests that the planes answered between two times and that concern an object, by its name: all
// writes, and the reads of the add-on. Events and Leases are left out.
func (s *stage) timeline(name string, begin, end time.Time) ([]timelineEvent, error) {
	var events []timelineEvent
	for _, plane := range readyPlanes {
		writes, err := s.federation.Writes(plane, begin)
		if err != nil {
			return nil, err
		}
		reads, err := s.federation.Requests(plane, begin, addOnUsers...)
		if err != nil {
			return nil, err
		}
		for i := range reads {
			if read := reads[i].Write; read.Verb == "get" || read.Verb == "list" {
				writes = append(writes, read)
			}
		}
		for _, write := range writes {
			read := write.Verb == "get" || write.Verb == "list"
			if write.Time.After(end) || !read && !strings.HasPrefix(write.Name, name) && write.Name != "" || isNoise(write.Resource) {
				continue
			}
			events = append(events, timelineEvent{plane, write})
		}
	}
	slices.SortStableFunc(events, func(a, b timelineEvent) int { return a.Time.Compare(b.Time) })
	return events, nil
}

// isNoise reports whether writes of a resource are no part of a change.
func isNoise(resource string) bool {
	return slices.Contains([]string{"coordination.k8s.io/leases", "/events", "events.k8s.io/events"}, resource)
}

// timelineRows describe requests by the time since begin, when they were received and how long the answer took.
func timelineRows(subject string, begin time.Time, events []timelineEvent) [][]string {
	rows := make([][]string, 0, len(events))
	for i := range events {
		e := &events[i]
		verb := e.Verb
		if e.Code >= 400 {
			verb += fmt.Sprintf(" (%d)", e.Code)
		}
		user := e.User[strings.LastIndex(e.User, ":")+1:]
		rows = append(rows, []string{
			subject, millis(e.Received.Sub(begin)), millis(e.Time.Sub(e.Received)), e.plane, user, verb, strings.TrimPrefix(e.Resource, "/"),
		})
	}
	return rows
}
