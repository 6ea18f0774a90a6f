// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"testing"
	"time"
)

func TestReadyCondition(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const earlier = "2026-04-30T00:00:00Z"
	for name, tc := range map[string]struct {
		project     string
		wantChanged bool
		wantTime    string
	}{
		"no status": {"{metadata: {generation: 1}}", true, "2026-05-01T12:00:00Z"},
		"settled": {
			"{metadata: {generation: 1}, status: {conditions: [{type: Ready, status: 'True', reason: Ready, observedGeneration: 1, " +
				"message: the project's control plane is served, lastTransitionTime: '" + earlier + "'}]}}", false, earlier,
		},
		"new generation": {
			"{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: 'True', reason: Ready, observedGeneration: 1, " +
				"message: the project's control plane is served, lastTransitionTime: '" + earlier + "'}]}}", true, earlier,
		},
		"only another condition": {
			"{metadata: {generation: 1}, status: {conditions: [{type: Suspended, status: 'False', reason: Active, message: '', " +
				"lastTransitionTime: '" + earlier + "'}]}}", true, "2026-05-01T12:00:00Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			project := parse(t, tc.project)
			got, changed, err := readyCondition(project, now)
			if err != nil {
				t.Fatal(err)
			}
			if changed != tc.wantChanged || got["lastTransitionTime"] != tc.wantTime {
				t.Errorf("got %v, changed %t, want %t at %s", got, changed, tc.wantChanged, tc.wantTime)
			}
			if got["type"] != "Ready" || got["status"] != "True" || got["reason"] != "Ready" ||
				got["observedGeneration"] != project.GetGeneration() {
				t.Errorf("got %v", got)
			}
		})
	}
}
