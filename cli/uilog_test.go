// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/page"
)

// TestUILog: the page follows the log of an Instance through a session of its user, which it deletes when the browser
// leaves. A refusal has its reason.
func TestUILog(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if query.Get("previous") == "true" {
			fmt.Fprintf(w, "before the restart of %s\n", pod(r))
			return
		}
		fmt.Fprintf(w, "2026-01-02T03:04:05.000000000Z %s %s %s\n", pod(r), query.Get("container"), query.Get("tailLines"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	// Only the rights that the documentation lists for logs.
	u, stop := f.startUI(f.user(
		may(read, "workloads", "workloaddeployments", "instances"), may([]string{"create", "get", "delete"}, "instancesessions"),
	))
	defer stop()
	if state := u.until("web", func(s *page.State) bool { return s.Loaded }); state.NoLogs != "" {
		t.Errorf("no logs: %s", state.NoLogs)
	}

	next, leave := u.log("instance=web-texas-dfw-0")
	if got := next(); !strings.Contains(got, `"containers":["web"],"container":"web"`) {
		t.Errorf("got %s", got)
	}
	if got := next(); !strings.Contains(got, `"line":"web-texas-dfw-0 web 500"`) {
		t.Errorf("got %s", got)
	}
	if n := f.sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	leave()
	late := time.Now().Add(time.Minute)
	for f.sessions() > 0 {
		if time.Now().After(late) {
			t.Fatal("the session stays after the browser has left")
		}
	}

	for query, wants := range map[string][]string{
		"instance=web-texas-dfw-1&previous=true":   {"containers", "before the restart of web-texas-dfw-1", `{"end":""}`},
		"instance=web-texas-dfw-0&container=other": {"container other is not in Instance web-texas-dfw-0, which has web"},
		"instance=none": {"not found"},
	} {
		next, leave := u.log(query)
		for _, want := range wants {
			if got := next(); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		leave()
	}
}

// TestUINoLogs: the page has the reason why its user gets no logs.
func TestUINoLogs(t *testing.T) {
	f := newFixture(t)
	f.scene()
	u, stop := f.startUI(f.user(may(read, "workloads", "workloaddeployments", "instances")))
	defer stop()
	state := u.until("web", func(s *page.State) bool { return s.Loaded })
	if !strings.Contains(state.NoLogs, "cannot create resource \"instancesessions\"") {
		t.Errorf("no logs: %q", state.NoLogs)
	}
}

// log opens a log. next returns its next part, and leave closes it.
func (u *uiPage) log(query string) (next func() string, leave context.CancelFunc) {
	u.Helper()
	ctx, leave := context.WithCancel(u.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.address+"log?"+query, http.NoBody)
	if err != nil {
		u.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		u.Fatal(err)
	}
	u.Cleanup(func() { _ = response.Body.Close() })
	parts := json.NewDecoder(bufio.NewReader(response.Body))
	return func() string {
		u.Helper()
		var part json.RawMessage
		if err := parts.Decode(&part); err != nil {
			u.Fatal(err)
		}
		return string(part)
	}, leave
}

// sessions returns the number of sessions in the project.
func (f *fixture) sessions() int {
	f.Helper()
	var list v1alpha.InstanceSessionList
	if err := f.Client.List(f.Context(), &list, client.InNamespace(f.Namespace.Name)); err != nil {
		f.Fatal(err)
	}
	return len(list.Items)
}
