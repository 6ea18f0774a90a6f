// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// maxWatch is the timeout of a watch without timeoutSeconds.
const maxWatch = 30 * time.Minute

const created = `"resourceVersion":"1","creationTimestamp":"2026-01-01T00:00:00Z"`

func projectJSON(i int) string {
	return fmt.Sprintf(`{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"Project","metadata":{"name":%q,"uid":"00000000-0000-4000-8000-%012d",%s},`+
		`"spec":{"ownerRef":{"kind":"Organization","name":"bench"}},"status":{"conditions":[`+
		`{"type":"Ready","status":"True","reason":"Ready","message":"","lastTransitionTime":"2026-01-01T00:00:01Z"}]}}`, projectName(i), i, created)
}

const bindingJSON = `{"apiVersion":"networking.datumapis.com/v1alpha","kind":"LocationBinding","metadata":{"name":"dfw","uid":"00000000-0000-4000-9000-000000000001",` + created + `},` +
	`"spec":{"locationRef":{"name":"dfw"},"topology":{"topology.datum.net/city-code":"DFW"}},` +
	`"status":{"conditions":[{"type":"Available","status":"True","reason":"Healthy","message":"","lastTransitionTime":"2026-01-01T00:00:01Z"}]}}`

const workloadJSON = `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Workload","metadata":{"namespace":"default","name":"web","uid":"00000000-0000-4000-9000-000000000002",` + created + `},` +
	`"spec":{"placements":[{"name":"main","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1}}]}}`

// listing is all objects of a kind, in JSON.
type listing struct {
	group, kind string
	items       []string
}

// answer serves a list or a watch.
func (m *fakeMilo) answer(w http.ResponseWriter, r *http.Request, l listing) {
	if watch, err := strconv.ParseBool(r.URL.Query().Get("watch")); err == nil && watch {
		m.watch(w, r, l)
		return
	}
	fmt.Fprintf(w, `{"apiVersion":%q,"kind":"%sList","metadata":{"resourceVersion":"1"},"items":[%s]}`, l.group, l.kind, strings.Join(l.items, ","))
}

// watch sends the initial events, if they are requested, and stays open without events.
func (m *fakeMilo) watch(w http.ResponseWriter, r *http.Request, l listing) {
	m.watches.Add(1)
	defer m.watches.Add(-1)
	query := r.URL.Query()
	if query.Get("sendInitialEvents") == "true" {
		for _, item := range l.items {
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", item)
		}
		fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n", l.group, l.kind)
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return // the client is gone
	}
	timeout := maxWatch
	if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds > 0 {
		timeout = time.Duration(seconds) * time.Second
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
	case <-timer.C:
	}
}

// allowReview allows every review.
func allowReview(w http.ResponseWriter, r *http.Request) {
	review := &authorizationv1.SubjectAccessReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Status.Allowed = true
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(review) // the client is gone
}
