// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/names/probe"
)

// ask tells the Prober which addresses the names of the Workload can have, and which records. A city that the stored record has left out
// because its addresses did not answer is lost until they do, also for a replica that starts.
func (s *scope) ask(context.Context) error {
	var targets []probe.Target
	lost := map[probe.Target]bool{}
	for _, wanted := range s.wishes {
		if wanted.refusal != "" || s.switching || !s.served {
			continue
		}
		record := s.ownRecord(wanted.name)
		left := unreachableOf(record)
		for _, target := range recordOf(record) {
			targets, lost[target] = append(targets, target), missingOf(record) != ""
		}
		endpoints := routing(s.endpoints, wanted.name)
		for i := range endpoints {
			for _, target := range probe.TargetsOf(s.workload.Spec.Service, &endpoints[i], wanted.name) {
				targets = append(targets, target)
				// Two names may ask the same address.
				lost[target] = lost[target] || slices.Contains(left, target.City)
			}
		}
	}
	if !s.Prober.Set(s.request, targets, func(target probe.Target) bool { return lost[target] }) {
		s.requeueAfter.AtMost(lateInterval)
	}
	return nil
}

// asked is the fact of a city with what its addresses have shown for a name. A city that its cells report as serving begins to serve when
// an address of it answers again, and ceases to when the last one is lost.
func (s *scope) asked(endpoint *v1alpha.CityEndpoint, name string) fact {
	result := factOf(endpoint)
	answer, since := s.Prober.Answer(probe.TargetsOf(s.workload.Spec.Service, endpoint, name)...)
	switch answer {
	case probe.Answers:
		result.shown = answers
	case probe.Lost:
		result.shown = unreachable
	case probe.Pending:
		result.shown = beingAsked
	case probe.Unknown:
	}
	if result.said == saysServing && since.After(result.since) {
		result.since = since
	}
	return result
}

// unreachable are the cities whose cells report that they serve, and that the answer lacks because their addresses do not answer.
func (d *decision) unreachable() (cities []string) {
	for _, v := range d.verdicts {
		if v.place == placeOut && v.why == string(unreachable) {
			cities = append(cities, v.city)
		}
	}
	return cities
}

// unreachableOf are the cities that a DNSEndpoint lacks because their addresses did not answer.
func unreachableOf(record *unstructured.Unstructured) []string {
	return citiesIn(record, v1alpha.AnnotationNameUnreachable)
}
