// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package choice decides which content of its ConfigMaps and Secrets a Workload is started with, and which snapshots
// of contents are kept. It reads and writes nothing.
package choice

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const (
	// FirstInterval is how long after a change of data the next one is taken, in seconds.
	FirstInterval = 30
	// LastInterval is the longest such time, in seconds: an object that changes all the time must not restart a rollout
	// all the time.
	LastInterval = 3600
)

// Object is an object of the project whose content is part of the revisions of a Workload.
type Object struct {
	templates.DataObject
	// Optional: Instances start without it.
	Optional bool
	// Newest is the hash of its content in the project, templates.AbsentData of an optional object that does not exist,
	// and "" while no content can be used. Bytes is its size.
	Newest string
	Bytes  int
}

// State has the facts that a choice depends on.
type State struct {
	// Objects by kind and name.
	Objects []Object
	// Before is the present choice, or nil.
	Before *v1alpha.WorkloadDataStatus
	// Holds are the contents that an undo holds.
	Holds map[templates.DataObject]templates.Hold
	// HasSnapshot reports whether a content is kept.
	HasSnapshot func(v1alpha.DataVersion) bool
	// Rolling: a rollout has not ended.
	Rolling bool
	// MaxBytes is the most that all objects may have together.
	MaxBytes int
	Now      time.Time
}

// Held is a content that an undo holds, and the newest one instead of which it does.
type Held struct {
	v1alpha.DataVersion
	Newest string
}

// Result is a choice.
type Result struct {
	Data *v1alpha.WorkloadDataStatus
	// Held are the contents that an undo holds, and Gone the ones that it should hold and that are not kept any more.
	Held []Held
	Gone []v1alpha.DataVersion
	// Waits are the objects whose newest content is taken later: after Wait.
	Waits []templates.DataObject
	Wait  time.Duration
	// TooLarge is the size of all objects together if it exceeds the bound.
	TooLarge int

	// changed are the recorded contents of objects whose newest content differs, by their positions in Data.
	changed map[int]v1alpha.DataVersion
}

// Choose chooses the newest contents, but for the ones that an undo holds. A content that follows another one too soon
// waits.
func Choose(s *State) Result {
	r := Result{Data: &v1alpha.WorkloadDataStatus{}, changed: map[int]v1alpha.DataVersion{}}
	bytes := 0
	for i := range s.Objects {
		bytes += r.add(s, &s.Objects[i])
	}
	if s.Before != nil {
		r.Data.TakenTime, r.Data.IntervalSeconds = s.Before.TakenTime, s.Before.IntervalSeconds
	}
	switch wait := s.wait(); {
	case bytes > s.MaxBytes:
		r.TooLarge = bytes
		r.keep()
	case len(r.changed) == 0:
	case wait > 0 && !r.isLost(s):
		r.Wait = wait
		r.keep()
	default:
		r.Data.IntervalSeconds = s.interval()
		r.Data.TakenTime = &metav1.Time{Time: s.Now.Truncate(time.Second)}
	}
	return r
}

// add chooses the content of one object, and returns its size. An object without a usable content keeps the recorded
// one.
func (r *Result) add(s *State, o *Object) int {
	recorded, isRecorded := s.Recorded(o.DataObject)
	version := v1alpha.DataVersion{Kind: o.Kind, Name: o.Name, Hash: o.Newest}
	if o.Newest == "" {
		if isRecorded && (recorded.Hash != templates.AbsentData || o.Optional) {
			r.Data.Objects = append(r.Data.Objects, recorded)
		}
		return 0
	}
	if hold, holds := s.Holds[o.DataObject]; holds && hold.Newest == version.Hash && hold.Held != version.Hash {
		version = r.hold(s, o, hold.Held)
	} else if isRecorded && recorded.Hash != version.Hash {
		r.changed[len(r.Data.Objects)] = recorded
	}
	r.Data.Objects = append(r.Data.Objects, version)
	return o.Bytes
}

// hold returns the content that an undo has chosen instead of the newest one, unless it is not kept any more: then the
// recorded one stays, which may be the same.
func (r *Result) hold(s *State, o *Object, held string) v1alpha.DataVersion {
	version := v1alpha.DataVersion{Kind: o.Kind, Name: o.Name, Hash: held}
	recorded, isRecorded := s.Recorded(o.DataObject)
	absent := held == templates.AbsentData && o.Optional
	if absent || s.HasSnapshot(version) {
		r.Held = append(r.Held, Held{version, o.Newest})
		return version
	}
	r.Gone = append(r.Gone, version)
	if isRecorded {
		return recorded
	}
	version.Hash = o.Newest
	return version
}

// keep leaves the changed objects at their recorded content.
func (r *Result) keep() {
	for at := range r.Data.Objects {
		if recorded, changed := r.changed[at]; changed {
			r.Waits = append(r.Waits, templates.DataObject{Kind: recorded.Kind, Name: recorded.Name})
			r.Data.Objects[at] = recorded
		}
	}
}

// isLost reports whether a changed content is kept nowhere: no Instance can start with it, so that no rollout of it is
// interrupted.
func (r *Result) isLost(s *State) bool {
	for _, recorded := range r.changed {
		if recorded.Hash != templates.AbsentData && !s.HasSnapshot(recorded) {
			return true
		}
	}
	return false
}

// Recorded returns the content of an object in the present choice.
func (s *State) Recorded(object templates.DataObject) (v1alpha.DataVersion, bool) {
	if s.Before == nil {
		return v1alpha.DataVersion{}, false
	}
	at := slices.IndexFunc(s.Before.Objects, func(v v1alpha.DataVersion) bool {
		return v.Kind == object.Kind && v.Name == object.Name
	})
	if at < 0 {
		return v1alpha.DataVersion{}, false
	}
	return s.Before.Objects[at], true
}

// wait returns how long a changed content waits; none or less: it is taken.
func (s *State) wait() time.Duration {
	if s.Before == nil || s.Before.TakenTime == nil {
		return 0
	}
	return s.Before.TakenTime.Add(time.Duration(s.Before.IntervalSeconds) * time.Second).Sub(s.Now)
}

// interval returns how long the next change waits: a change that interrupts a rollout doubles it.
func (s *State) interval() int32 {
	if s.Before == nil || s.Before.TakenTime == nil || !s.Rolling {
		return FirstInterval
	}
	return min(max(s.Before.IntervalSeconds, FirstInterval)*2, LastInterval) //nolint:mnd // It doubles.
}
