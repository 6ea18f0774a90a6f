// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestRestart(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1e9, 0))
	r := newRestart(clock)
	user, master := caller{user: "add-on"}, caller{user: "admin", groups: []string{mastersGroup}}
	if err := r.refusal(user); err == nil || !apierrors.IsTooManyRequests(err) {
		t.Errorf("at first: %v", err)
	}
	clock.SetTime(clock.Now().Add(unsettled / 2))
	if err := r.refusal(user); err == nil || !apierrors.IsForbidden(err) {
		t.Errorf("then: %v", err)
	}
	if err := r.refusal(master); err != nil {
		t.Errorf("an administrator: %v", err)
	}
	clock.SetTime(clock.Now().Add(unsettled / 2))
	if err := r.refusal(user); err != nil {
		t.Errorf("at last: %v", err)
	}
	closes := func(query string, want bool) {
		t.Helper()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis/example.com/v1/things?"+query, http.NoBody)
		if got := r.closes(request, "add-on"); got != want {
			t.Errorf("%q is closed: %t", query, got)
		}
	}
	closes("watch=true&resourceVersion=7", true)
	closes("watch=true&resourceVersion=7", true)
	closes("resourceVersion=7", false)
	closes("watch=true&resourceVersion=9", false)
	r.listed = map[string]bool{}
	closes("watch=true&sendInitialEvents=true&resourceVersion=7", false)
	closes("watch=true&resourceVersion=9", false)
	r.listed = map[string]bool{}
	clock.SetTime(clock.Now().Add(remembered))
	closes("watch=true&resourceVersion=7", false)
	if err := (*restart)(nil).refusal(user); err != nil || (*restart)(nil).closes(nil, "") {
		t.Error("a Milo that was not there before is not itself")
	}
}
