// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestTraces verifies what a session with two streams leaves: a line in the log for each stream, metrics of both, and
// one Event. None of them has what was transferred.
func TestTraces(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lines []string
	registry := prometheus.NewRegistry()
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "content") }), func(o *Options) {
		o.Registerer = registry
		o.Log = funcr.New(func(_, args string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(args, "Session ended") {
				lines = append(lines, args)
			}
		}, funcr.Options{})
	})
	key := newKey(t)
	_, grant := f.create(t, key)
	for range 2 {
		if got := readAll(t, f.get(t, f.addressOf(grant), key)); got != "content" {
			t.Fatalf("the log is %q", got)
		}
	}
	_ = readAll(t, f.get(t, f.addressOf(grant), newKey(t)))
	// All is written then.
	f.stop()
	if len(lines) != 2 {
		t.Fatalf("lines are %q", lines)
	}
	for _, line := range lines {
		for _, part := range []string{
			`"project"="north"`, `"user"="consumer"`, `"instance"="web-main-dfw-0"`, `"type"="Logs"`, `"cell"="` + f.cell.Name,
			`"bytesToClient"=7`, `"duration"=`,
			`"reason"="SessionCompleted"`,
		} {
			if !strings.Contains(line, part) {
				t.Errorf("%s lacks %s", line, part)
			}
		}
		if strings.Contains(line, "content") {
			t.Errorf("%s has what was transferred", line)
		}
	}
	f.checkOneEvent(t)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP karmada_compute_session_bytes_total Bytes of streams of InstanceSessions that ended, by direction: to the client or from it.
# TYPE karmada_compute_session_bytes_total counter
karmada_compute_session_bytes_total{direction="from_client"} 0
karmada_compute_session_bytes_total{direction="to_client"} 14
# HELP karmada_compute_session_requests_refused_total Requests for sessions that were refused: the session does not exist, has expired or was used, or the client has another key.
# TYPE karmada_compute_session_requests_refused_total counter
karmada_compute_session_requests_refused_total 1
# HELP karmada_compute_session_streams Streams of InstanceSessions that this replica carries.
# TYPE karmada_compute_session_streams gauge
karmada_compute_session_streams 0
# HELP karmada_compute_session_streams_ended_total Streams of InstanceSessions that ended, by the type of the session and the reason of its condition Ready.
# TYPE karmada_compute_session_streams_ended_total counter
karmada_compute_session_streams_ended_total{reason="SessionCompleted",type="Logs"} 2
`)); err != nil {
		t.Error(err)
	}
}

// checkOneEvent checks that the namespace has one Event.
func (f *fixture) checkOneEvent(t *testing.T) {
	t.Helper()
	var events corev1.EventList
	if err := f.Client.List(t.Context(), &events, client.InNamespace(f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	if len(events.Items) != 1 || events.Items[0].Reason != v1alpha.EventInstanceSession ||
		strings.Contains(events.Items[0].Message, "content") {
		t.Errorf("Events are %+v", events.Items)
	}
}

// TestStreamsOfAReplica verifies that a replica carries no more streams than it may, and has capacity again when one
// ends.
func TestStreamsOfAReplica(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.HandlerFunc(follow), func(o *Options) { o.Grants.Limits.Streams = 1 })
	key := newKey(t)
	session, first := f.create(t, key, followed)
	_, second := f.create(t, key, followed)
	if response := f.get(t, f.addressOf(first), key); response.StatusCode != http.StatusOK {
		t.Fatalf("the first stream: %d", response.StatusCode)
	}
	if response := f.get(t, f.addressOf(second), key); response.StatusCode != http.StatusServiceUnavailable ||
		!strings.Contains(readAll(t, response), "streams at this replica") {
		t.Errorf("one more: %d", response.StatusCode)
	}
	if err := f.Client.Delete(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	for t.Context().Err() == nil {
		if response := f.get(t, f.addressOf(second), key); response.StatusCode == http.StatusOK {
			return
		}
	}
}

// TestOneEventForACommand: the sessions of a command that reads logs have one Event. Another user, another Workload, a later command and
// a session of another type have an Event of their own.
func TestOneEventForACommand(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 10, 0, time.UTC)
	session := func(uid types.UID, user, workload string, kind v1alpha.InstanceSessionType) *stream {
		return &stream{at: place{workload: workload}, grant: &Grant{
			UID: uid, Namespace: "default", User: authenticationv1.UserInfo{Username: user},
			Spec: v1alpha.InstanceSessionSpec{Type: kind, InstanceRef: v1alpha.SessionInstanceReference{Name: workload + "-main-dfw-0"}},
		}}
	}
	first := traceOf(session("1", "ann", "web", v1alpha.SessionLogs), at, "after 1s")
	const want = `user "ann" read logs of Workload web; the first session, of type Logs for Instance web-main-dfw-0, ended after 1s`
	if first.message != want {
		t.Errorf("the message is %q, want %q", first.message, want)
	}
	if second := traceOf(session("2", "ann", "web", v1alpha.SessionLogs), at.Add(30*time.Second), ""); second.name != first.name {
		t.Errorf("two sessions of a command have the Events %s and %s", first.name, second.name)
	}
	names := map[string]bool{first.name: true}
	for _, other := range []trace{
		traceOf(session("3", "bob", "web", v1alpha.SessionLogs), at, ""), traceOf(session("4", "ann", "shop", v1alpha.SessionLogs), at, ""),
		traceOf(session("5", "ann", "web", v1alpha.SessionLogs), at.Add(time.Hour), ""),
		traceOf(session("6", "ann", "web", v1alpha.SessionExec), at, ""), traceOf(session("7", "ann", "web", v1alpha.SessionExec), at, ""),
	} {
		if names[other.name] {
			t.Errorf("another command has the same Event: %q", other.message)
		}
		names[other.name] = true
	}
}
