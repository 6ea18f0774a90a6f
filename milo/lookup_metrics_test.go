// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/milo"
)

func TestLookupMetrics(t *testing.T) {
	s := newServer(t)
	registry := prometheus.NewRegistry()
	fake := milo.NewTimerClock()
	lookup, err := milo.NewLookup(milo.LookupOptions{Root: &rest.Config{Host: s.URL + "/base"}, Clock: fake, Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	a := &authorizer{status: `{"allowed":true}`}
	s.on("north"+reviewsPath, a.ServeHTTP)
	s.on("unknown", notFound)
	s.on("north"+grantsPath, http.NotFound)
	north := named("north", "1")
	ask := func(name string) {
		if _, err := lookup.Project(t.Context(), name); err != nil && !errors.Is(err, milo.ErrProjectNotFound) {
			t.Error(err)
		}
	}
	for _, name := range []string{"north", "north", "unknown", "unknown", "unknown"} {
		ask(name)
	}
	s.on("north", badGateway)
	fake.Step(30 * time.Second)
	ask("north")
	for range 2 {
		_, _, cities := lookup.CityCodes(t.Context(), north)
		_, _, quota := lookup.InstanceAllowance(t.Context(), north)
		_, _, review := lookup.Review(t.Context(), north, authorizationv1.SubjectAccessReviewSpec{User: "ada"})
		if err := errors.Join(cities, quota, review, lookup.Probe(t.Context())); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := lookup.CityCodes(t.Context(), named("broken", "1")); err != nil {
		t.Error(err)
	}
	s.on("north"+reviewsPath, forbidden)
	if _, _, err := lookup.Review(t.Context(), north, authorizationv1.SubjectAccessReviewSpec{User: "bob"}); err == nil {
		t.Error("a forbidden review passed")
	}
	checkMetrics(t, registry)
}

// checkMetrics checks the metrics after the lookups of TestLookupMetrics.
func checkMetrics(t *testing.T, registry *prometheus.Registry) {
	t.Helper()
	lookups, requests := gathered(t, registry)
	for kind, want := range map[string][4]float64{
		"project": {3, 2, 1, 0}, "locations": {1, 2, 0, 0}, "allowance": {1, 1, 0, 0}, "review": {1, 1, 0, 1}, "instances": {0, 0, 0, 0},
	} {
		for i, outcome := range []string{"hit", "miss", "stale", "error"} {
			if got, ok := lookups[kind+" "+outcome]; got != want[i] || !ok {
				t.Errorf("%v lookups of kind %s ended as %s, want %v", got, kind, outcome, want[i])
			}
		}
	}
	if got := fmt.Sprint(requests); len(lookups) != 20 || got != "map[allowance:1 locations:2 probe:2 project:3 review:2]" {
		t.Errorf("requests are %s, lookups %v", got, lookups)
	}
}

// gathered are the lookups by "kind outcome" and the number of requests by kind.
func gathered(t *testing.T, registry *prometheus.Registry) (lookups map[string]float64, requests map[string]uint64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	lookups, requests = map[string]float64{}, map[string]uint64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			// The labels are sorted by name.
			labels := metric.GetLabel()
			switch family.GetName() {
			case "karmada_compute_milo_lookups_total":
				lookups[labels[0].GetValue()+" "+labels[1].GetValue()] = metric.GetCounter().GetValue()
			case "karmada_compute_milo_request_duration_seconds":
				requests[labels[0].GetValue()] = metric.GetHistogram().GetSampleCount()
			}
		}
	}
	return lookups, requests
}
