// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

const (
	// braked is how long a city must serve nothing while so many cities are lost that the fault may be the hub's.
	braked = 30 * time.Minute
	// healthInterval is the interval in which cities are checked without an event: the ones without a deployment have none.
	healthInterval = 15 * time.Second
)

// Reasons of the Events of decisions.
const (
	eventReplaced = "CityReplaced"
	eventReturns  = "CityReturns"
	eventReturned = "CityReturned"
	eventGivenUp  = "ReturnGivenUp"
)

// failover lets the clocks of the cities run and takes the steps that are due. Nothing follows from doubt: the clock of a city that
// is in doubt ends.
func (s *spread) failover() {
	switch rule := s.placement.Spread.Failover; {
	case rule == nil:
		s.forget()
	case s.Cities == nil:
		// The health of cities is not known here.
	case s.Workload.Status.Suspended:
		s.stopClocks()
	default:
		if !rule.Returns() {
			s.stay()
		}
		for _, city := range s.cities() {
			if s.find(city) == nil {
				continue
			}
			s.judge(city)
			if c := s.find(city); c != nil && (c.Phase != v1alpha.CityRunning || c.Reason != "" || !s.serves(city)) {
				s.Again.AtMost(healthInterval)
			}
		}
	}
}

// cities are the recorded cities, the running ones first.
func (s *spread) cities() []string {
	result := s.running()
	for i := range s.record {
		if s.record[i].Phase != v1alpha.CityRunning {
			result = append(result, s.record[i].City)
		}
	}
	return result
}

// forget ends what a failover has begun: the Instances stay where they run.
func (s *spread) forget() {
	s.record = slices.DeleteFunc(s.record, func(c v1alpha.PlacementCity) bool { return c.Phase != v1alpha.CityRunning })
	s.stopClocks()
}

func (s *spread) stopClocks() {
	for i := range s.record {
		if c := &s.record[i]; c.Phase == v1alpha.CityRunning {
			c.Reason = ""
		}
		s.record[i].Since = nil
	}
}

// stay lets no city return. One that has Instances again keeps them until all running cities serve.
func (s *spread) stay() {
	s.record = slices.DeleteFunc(s.record, func(c v1alpha.PlacementCity) bool { return c.Phase == v1alpha.CityAway })
	for i := range s.record {
		if c := &s.record[i]; c.Phase == v1alpha.CityLost || c.Phase == v1alpha.CityReturning {
			c.Phase, c.Since = v1alpha.CityLeaving, nil
		}
	}
}

// judge takes the step of a city that is due.
func (s *spread) judge(city string) {
	c := s.find(city)
	switch c.Phase {
	case v1alpha.CityRunning:
		cause := s.cause(city)
		if cause != c.Reason {
			c.Reason, c.Since = cause, nil
		}
		if s.lasts(c, cause != "", s.patience(cause)) {
			s.replace(city, cause)
		}
	case v1alpha.CityLost:
		switch {
		case s.mayStop(city):
			c.Phase, c.Since, s.moved = v1alpha.CityAway, nil, true
			s.lasts(c, s.canReturn(c), s.stability())
		case s.lasts(c, s.canRun(city) && s.mayTake(c), s.stability()):
			s.take(city)
		}
	case v1alpha.CityLeaving:
		if s.mayStop(city) {
			s.moved = true
			s.drop(city)
		}
	case v1alpha.CityAway:
		if s.lasts(c, s.canReturn(c), s.stability()) && s.mayReturn() {
			c.Phase, c.Since = v1alpha.CityReturning, nil
			s.decide(corev1.EventTypeNormal, eventReturns, "%s gets its Instances again, beside the ones in %s", city, c.ReplacedBy)
		}
	case v1alpha.CityReturning:
		s.judgeReturn(c)
	}
}

// judgeReturn ends a return: all Instances of the city are Available, or it cannot run them after all.
func (s *spread) judgeReturn(c *v1alpha.PlacementCity) {
	d, deadline := s.deploymentIn(c.City), s.Workload.Spec.Rollout.ProgressDeadline()
	switch {
	case s.mayTake(c):
		s.take(c.City)
		return
	case s.isDown(c.City) && !s.isTold(c.City):
		c.Phase, c.Since = v1alpha.CityLost, nil
	case s.isDown(c.City) || s.isLeft(c.City) || d != nil && hasExceeded(d) || s.lasts(c, true, deadline):
		c.Phase, c.Since = v1alpha.CityAway, nil
	default:
		return
	}
	s.decide(corev1.EventTypeWarning, eventGivenUp, "%s cannot run its Instances, which stay in %s", c.City, c.ReplacedBy)
}

// lasts reports whether a fact about a city has been true for a time. Its clock begins when the fact is recorded for the first time, and
// ends when the fact is not true, or not known.
func (s *spread) lasts(c *v1alpha.PlacementCity, isTrue bool, time time.Duration) bool {
	switch now := metav1.NewTime(s.Now).Rfc3339Copy(); {
	case !isTrue:
		c.Since = nil
		return false
	case c.Since == nil || c.Since.After(s.Now):
		c.Since = &now
	}
	remaining := c.Since.Add(time).Sub(s.Now)
	if remaining > 0 {
		s.Again.AtMost(remaining)
	}
	return remaining <= 0
}

// mayTake reports whether a city serves as the one that replaced it, so that the other one may stop.
func (s *spread) mayTake(c *v1alpha.PlacementCity) bool {
	return s.serves(c.City) && (s.offers(c.City) || !s.offers(c.ReplacedBy))
}

// mayStop reports whether a city that was replaced may stop its Instances: it can be told to, and all Instances of the cities that run are
// Available. Clients that reach it reach another city.
func (s *spread) mayStop(city string) bool {
	running := s.running()
	return s.isTold(city) && !slices.ContainsFunc(running, func(c string) bool { return !s.serves(c) }) &&
		(!s.offers(city) || slices.ContainsFunc(running, s.offers))
}

// patience is how long a cause must last before a city is replaced.
func (s *spread) patience(cause v1alpha.PlacementCityReason) time.Duration {
	after := s.placement.Spread.Failover.AfterOrDefault()
	switch {
	case cause == v1alpha.CityLeftByHand:
		return 0
	case cause == v1alpha.CityNoCapacity:
		return s.placement.Spread.Overflow.AfterOrDefault()
	case s.isBraked():
		return max(after, braked)
	}
	return after
}

// stability is how long a city must be able to run Instances before it runs them again: not at all for as long after the consumer has asked
// for that.
func (s *spread) stability() time.Duration {
	wait := s.placement.Spread.Failover.StableOrDefault()
	if asked := s.byHand.ReturnRequested; !asked.After(s.Now) && s.Now.Sub(asked) < wait {
		return 0
	}
	return wait
}

// isBraked reports whether more than a third of the cities, and more than one, are lost at once: the fault may be the hub's.
func (f *Facts) isBraked() bool {
	lost, known := 0, 0
	for _, health := range f.Cities {
		switch health {
		case cells.Empty:
			continue
		case cells.Lost:
			lost++
		case cells.Able, cells.Closed, cells.InDoubt:
		}
		known++
	}
	return lost > 1 && lost*3 > known
}

// mayReturn reports whether a city may get its Instances again: one at a time of all placements, while no rollout is in progress.
func (s *spread) mayReturn() bool {
	returning := func(c v1alpha.PlacementCity) bool { return c.Phase == v1alpha.CityReturning }
	for i := range s.Workload.Status.Placements {
		if slices.ContainsFunc(s.Workload.Status.Placements[i].Cities, returning) {
			return false
		}
	}
	rollout := s.Workload.Status.Rollout
	return !s.returning && !slices.ContainsFunc(s.record, returning) && !s.isBraked() && rollout != nil &&
		rollout.TemplateHash == s.Template.Written && (rollout.Phase == v1alpha.RolloutComplete || rollout.Phase == v1alpha.RolloutUndone)
}

// next is the candidate that replaces a city: first the city that it has replaced itself, then one that is not recorded, then any other one
// that can run the Instances. Candidates that lack the capacity are last.
func (s *spread) next(lost string, cause v1alpha.PlacementCityReason) string {
	best, least := "", 0
	for _, city := range s.candidates {
		if city == lost || s.isRunning(city) || !s.maySubstitute(city, lost, cause) {
			continue
		}
		c, weight := s.find(city), 2
		switch {
		case c != nil && c.ReplacedBy == lost:
			weight = 0
		case c == nil:
			weight = 1
		}
		if s.lacksRoom(city) {
			weight += 3
		}
		if best == "" || weight < least {
			best, least = city, weight
		}
	}
	return best
}

// maySubstitute reports whether a city may run the Instances of another one: it can, and it is the one that the consumer has named, or has
// the capacity that the other one lacks.
func (s *spread) maySubstitute(city, lost string, cause v1alpha.PlacementCityReason) bool {
	switch named := s.byHand.Leave[lost]; {
	case !s.canRun(city):
		return false
	case cause == v1alpha.CityLeftByHand:
		return named == "" || named == city
	case cause == v1alpha.CityNoCapacity:
		return !s.lacksRoom(city)
	}
	return true
}

// replace lets the next candidate run the Instances of a city. A city that had replaced another one is not returned to. If the candidate
// was replaced itself and is able again, the city that had replaced it stands in for the lost one.
func (s *spread) replace(lost string, cause v1alpha.PlacementCityReason) {
	by := s.next(lost, cause)
	if by == "" || s.find(by) == nil && len(s.record) >= maxRecorded {
		return
	}
	standIn := by
	if c := s.find(by); c != nil && c.ReplacedBy != lost {
		standIn = c.ReplacedBy
	}
	phase := v1alpha.CityLost
	if !s.placement.Spread.Failover.Returns() {
		phase = v1alpha.CityLeaving
	}
	for i := range s.record {
		if c := &s.record[i]; c.ReplacedBy == lost {
			c.ReplacedBy = standIn
			if c.Phase != v1alpha.CityLeaving {
				phase = v1alpha.CityLeaving
			}
		}
	}
	*s.find(lost) = v1alpha.PlacementCity{City: lost, Phase: phase, ReplacedBy: standIn, Reason: cause}
	s.run(by)
	switch cause {
	case v1alpha.CityLeftByHand:
		s.decide(corev1.EventTypeNormal, eventReplaced, "%s is left, as annotation %s asks: %s runs the Instances", lost,
			v1alpha.AnnotationLeaveCities, by)
	case v1alpha.CityNoCapacity:
		s.decide(corev1.EventTypeWarning, eventReplaced, "%s lacks the capacity for its Instances: %s runs them", lost, by)
	case v1alpha.CityServesNothing:
		s.decide(corev1.EventTypeWarning, eventReplaced, "%s serves nothing (%s): %s runs the Instances", lost, s.whyDown(lost), by)
	}
}

// take lets a city run its Instances again that serves, instead of the city that had replaced it.
func (s *spread) take(city string) {
	standIn := s.find(city).ReplacedBy
	s.run(city)
	s.drop(standIn)
	for i := range s.record {
		if c := &s.record[i]; c.ReplacedBy == standIn {
			c.ReplacedBy = city
		}
	}
	s.decide(corev1.EventTypeNormal, eventReturned, "all Instances in %s are Available; the ones in %s stop", city, standIn)
}

// adopt gives cities whose substitute is no longer chosen another one, and drops them if none is.
func (s *spread) adopt(by string) {
	var orphaned string
	for i := range s.record {
		c := &s.record[i]
		if c.Phase == v1alpha.CityRunning || s.isRunning(c.ReplacedBy) || orphaned != "" && c.ReplacedBy != orphaned {
			continue
		}
		orphaned, c.ReplacedBy = c.ReplacedBy, by
	}
}

// decide records a decision. It is taken with facts from the API server.
func (s *spread) decide(kind, reason, format string, arguments ...any) {
	s.moved = true
	s.returning = s.returning || reason == eventReturns
	s.notes = append(s.notes, Event{
		Type: kind, Reason: reason, Message: fmt.Sprintf("Placement %s: %s", s.placement.Name, fmt.Sprintf(format, arguments...)),
	})
}
