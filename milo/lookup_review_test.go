// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
)

const reviewsPath = "/control-plane/apis/authorization.k8s.io/v1/subjectaccessreviews"

// authorizer answers reviews with a status, and records them.
type authorizer struct {
	status   string
	requests []map[string]any
}

func (a *authorizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || r.Method != http.MethodPost {
		failure(http.StatusBadRequest, "BadRequest")(w, r)
		return
	}
	a.requests = append(a.requests, review)
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":%s}`, a.status)
}

func TestReview(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	a := &authorizer{}
	s.on("north"+reviewsPath, a.ServeHTTP)
	spec := authorizationv1.SubjectAccessReviewSpec{
		User: "ada", UID: "u-1", Groups: []string{"staff", "system:authenticated"},
		Extra: map[string]authorizationv1.ExtraValue{
			"iam.miloapis.com/parent-api-group": {"resourcemanager.miloapis.com"},
			"iam.miloapis.com/parent-type":      {"Project"},
			"iam.miloapis.com/parent-name":      {"north"},
		},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: "default", Verb: "use", Group: "networking.datumapis.com", Version: "v1alpha", Resource: "networks", Name: "main",
		},
	}
	cases := []struct {
		status  string
		allowed bool
		reason  string
	}{
		{`{"allowed":false,"reason":"no such relation"}`, false, "no such relation"},
		{`{"allowed":false,"denied":true,"reason":"shut out"}`, false, "shut out"},
		{`{"allowed":false,"evaluationError":"the store is away"}`, false, "the store is away"},
		{`{"allowed":true}`, true, ""},
		{`{"allowed":true,"reason":"an administrator"}`, true, "an administrator"},
	}
	// Allowed reviews are cached for 5 s, denied ones are not cached.
	for _, c := range cases {
		a.status = c.status
		allowed, reason, err := lookup.Review(t.Context(), named("north", "1"), spec)
		if err != nil || allowed != c.allowed || reason != c.reason {
			t.Errorf("%s: got %t, %q, %v", c.status, allowed, reason, err)
		}
		if c.allowed {
			a.status = `{"allowed":false}`
			fake.Step(5*time.Second - 1)
			if again, _, err := lookup.Review(t.Context(), named("north", "1"), spec); err != nil || !again {
				t.Errorf("%s: a moment later %t, %v", c.status, again, err)
			}
			fake.Step(1)
		}
	}
	if len(a.requests) != len(cases) {
		t.Fatalf("asked %d times", len(a.requests))
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(`{"user":"ada","uid":"u-1","groups":["staff","system:authenticated"],
		"extra":{"iam.miloapis.com/parent-api-group":["resourcemanager.miloapis.com"],
			"iam.miloapis.com/parent-type":["Project"],"iam.miloapis.com/parent-name":["north"]},
		"resourceAttributes":{"namespace":"default","verb":"use","group":"networking.datumapis.com","version":"v1alpha","resource":"networks","name":"main"}}`), &want); err != nil {
		t.Fatal(err)
	}
	for _, got := range a.requests {
		if got["apiVersion"] != "authorization.k8s.io/v1" || got["kind"] != "SubjectAccessReview" || !reflect.DeepEqual(got["spec"], want) {
			t.Errorf("sent %v", got)
		}
	}
}

func TestReviewErrors(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	for want, handler := range map[string]http.HandlerFunc{
		"Milo refuses the add-on a review of the user's access, an administrator must grant it": forbidden,
		"Milo cannot be reached for a review of the user's access":                              badGateway,
	} {
		s.on("north"+reviewsPath, handler)
		allowed, _, err := lookup.Review(t.Context(), named("north", "1"), authorizationv1.SubjectAccessReviewSpec{User: want})
		if allowed || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %t, %v, want %q", allowed, err, want)
		}
	}
}

// TestMayWriteWhileMiloIsAway: a write that was allowed within the last ten minutes is allowed, and no other.
func TestMayWriteWhileMiloIsAway(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	a := &authorizer{status: `{"allowed":true}`}
	s.on("north"+reviewsPath, a.ServeHTTP)
	ada, bob := authorizationv1.SubjectAccessReviewSpec{User: "ada"}, authorizationv1.SubjectAccessReviewSpec{User: "bob"}
	if allowed, err := lookup.MayWrite(t.Context(), named("north", "1"), ada); err != nil || !allowed {
		t.Fatal(allowed, err)
	}
	s.on("north"+reviewsPath, badGateway)
	fake.Step(10 * time.Minute)
	if allowed, err := lookup.MayWrite(t.Context(), named("north", "1"), ada); err != nil || !allowed {
		t.Errorf("ten minutes later: %t, %v", allowed, err)
	}
	if allowed, err := lookup.MayWrite(t.Context(), named("north", "1"), bob); err == nil || allowed {
		t.Errorf("another user: %t, %v", allowed, err)
	}
	if allowed, err := lookup.MayWrite(t.Context(), named("north", "2"), ada); err == nil || allowed {
		t.Errorf("in another project of that name: %t, %v", allowed, err)
	}
	fake.Step(time.Second)
	if allowed, err := lookup.MayWrite(t.Context(), named("north", "1"), ada); err == nil || allowed {
		t.Errorf("after that: %t, %v", allowed, err)
	}
}
