// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Names of events in the kinds that a user may not read.
const (
	EventsOfProject = "events of the project"
	EventsOfHub     = "events of the hub"
)

// Subjects holds the objects whose events belong to a Workload.
type Subjects struct {
	snapshot *Snapshot
	// uids holds the UIDs of the Workload's objects, including deleted ones: events about their deletion are shown, too.
	uids map[types.UID]bool
	// hubNamespaces holds the hub namespaces of the objects.
	hubNamespaces []string
	// sessions: Events of sessions are shown, too.
	sessions bool
}

// NewSubjects returns the objects of a snapshot.
func NewSubjects(snapshot *Snapshot) *Subjects {
	s := &Subjects{uids: map[types.UID]bool{}}
	s.See(snapshot)
	return s
}

// WithSessions also selects the Events of sessions: of logs, commands and ports.
func (s *Subjects) WithSessions(sessions bool) *Subjects {
	s.sessions = sessions
	return s
}

// See adds the objects of a snapshot.
func (s *Subjects) See(snapshot *Snapshot) {
	s.snapshot = snapshot
	if snapshot.Workload != nil {
		s.uids[snapshot.Workload.UID] = true
	}
	for i := range snapshot.Deployments {
		s.uids[snapshot.Deployments[i].UID] = true
	}
	for i := range snapshot.Instances {
		s.uids[snapshot.Instances[i].UID] = true
	}
	for _, onHub := range snapshot.Hub {
		if onHub.Copy != nil {
			s.uids[onHub.Copy.UID] = true
			s.hubNamespaces = append(s.hubNamespaces, onHub.Namespace)
		}
		if onHub.Binding != nil {
			s.uids[onHub.Binding.UID] = true
		}
	}
	delete(s.uids, "")
	slices.Sort(s.hubNamespaces)
	s.hubNamespaces = slices.Compact(s.hubNamespaces)
}

// HubNamespaces returns the hub namespaces of the objects.
func (s *Subjects) HubNamespaces() []string { return s.hubNamespaces }

// Have reports whether an event is about one of the objects.
func (s *Subjects) Have(e *corev1.Event) bool {
	return s.uids[e.InvolvedObject.UID] && (s.sessions || e.Reason != v1alpha.EventInstanceSession)
}

// Hide records in the last snapshot that the user may not read some of the events.
func (s *Subjects) Hide(events string, refused error) { s.snapshot.Hidden[events] = refused }

// LastSeen returns the time when an event was last counted, from the fields of its present or former API.
func LastSeen(e *corev1.Event) time.Time {
	var at time.Time
	for _, later := range []time.Time{e.EventTime.Time, e.LastTimestamp.Time} {
		if later.After(at) {
			at = later
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(at) {
		at = e.Series.LastObservedTime.Time
	}
	if at.IsZero() {
		return e.CreationTimestamp.Time
	}
	return at
}

// ownEvents begins the names of the components that write the add-on's Events. On the hub, an admission policy refuses Events with such a
// name by others.
const ownEvents = "karmada-compute"

// Told returns the message of an Event, with the writer of one that is not the add-on's: whoever may create Events can say
// anything about an object.
func Told(e *corev1.Event) string {
	writer := cmp.Or(e.ReportingController, e.Source.Component, "an unknown writer")
	if writer == ownEvents || strings.HasPrefix(writer, ownEvents+"-") {
		return e.Message
	}
	return "from " + writer + ": " + e.Message
}
