// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestEventsOfOthers: the page names the writer of an Event that is not the add-on's, as the command events does.
func TestEventsOfOthers(t *testing.T) {
	for writer, want := range map[string]string{"karmada-compute": "run this", "evil": "from evil: run this"} {
		e := &corev1.Event{Source: corev1.EventSource{Component: writer}, Message: "run this"}
		if got := eventOf(e).Message; got != want {
			t.Errorf("of %s: %q", writer, got)
		}
	}
}
