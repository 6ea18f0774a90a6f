// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestEventsOfOthers: an Event that the add-on has not written names its writer, so that no user takes its instructions for the add-on's.
func TestEventsOfOthers(t *testing.T) {
	for name, test := range map[string]struct {
		of   corev1.Event
		want string
	}{
		"the add-on's":           {corev1.Event{Source: corev1.EventSource{Component: "karmada-compute"}}, "run this"},
		"of its audit":           {corev1.Event{Source: corev1.EventSource{Component: "karmada-compute-audit"}}, "run this"},
		"in the newer API":       {corev1.Event{ReportingController: "karmada-compute"}, "run this"},
		"of another's component": {corev1.Event{Source: corev1.EventSource{Component: "evil"}}, "from evil: run this"},
		"of a similar name":      {corev1.Event{Source: corev1.EventSource{Component: "karmada-computed"}}, "from karmada-computed: run this"},
		"of two names": {
			corev1.Event{Source: corev1.EventSource{Component: "karmada-compute"}, ReportingController: "evil"}, "from evil: run this",
		},
		"of no name": {corev1.Event{}, "from an unknown writer: run this"},
	} {
		test.of.Message = "run this"
		if got := Told(&test.of); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
