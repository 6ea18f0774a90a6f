// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const grantsPath = "/control-plane/apis/quota.miloapis.com/v1alpha1/resourcegrants"

// grants answers with ResourceGrants.
func grants(items ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"apiVersion":"quota.miloapis.com/v1alpha1","kind":"ResourceGrantList","items":[%s]}`, strings.Join(items, ","))
	}
}

// grant is a ResourceGrant of amounts of a resource type, each in its own bucket.
func grant(consumer, active, resourceType string, amounts ...int64) string {
	buckets := make([]string, len(amounts))
	for i, amount := range amounts {
		buckets[i] = fmt.Sprintf(`{"amount":%d}`, amount)
	}
	return fmt.Sprintf(`{"metadata":{"name":"g","namespace":"default"},
		"spec":{"consumerRef":{"apiGroup":"resourcemanager.miloapis.com","kind":"Project","name":%q},
			"allowances":[{"resourceType":%q,"buckets":[%s]},{"resourceType":"storage.example.com/disks","buckets":[{"amount":1000}]}]},
		"status":{"conditions":[{"type":"Active","status":%q}]}}`, consumer, resourceType, strings.Join(buckets, ","), active)
}

func TestInstanceAllowance(t *testing.T) {
	const instances = "compute.datumapis.com/instances"
	cases := map[string]struct {
		handler http.HandlerFunc
		limit   int64
		known   bool
		fails   string
	}{
		"the sum of all grants": {
			handler: grants(grant("north", "True", instances, 3, 4), grant("north", "Unknown", instances, 5)), limit: 12, known: true,
		},
		"a grant of none":          {handler: grants(grant("north", "True", instances, 0)), known: true},
		"no grants":                {handler: grants()},
		"grants of other things":   {handler: grants(grant("north", "True", "compute.datumapis.com/cpu", 3))},
		"a grant to somebody else": {handler: grants(grant("south", "True", instances, 3))},
		"a grant that is not active": {
			handler: grants(grant("north", "False", instances, 3), grant("north", "True", instances, 1)), limit: 1, known: true,
		},
		"more than there are numbers":  {handler: grants(grant("north", "True", instances, math.MaxInt64, 1)), limit: math.MaxInt64, known: true},
		"a Milo without quota":         {handler: http.NotFound},
		"a Milo that says so politely": {handler: notFound},
		"a gateway error":              {handler: badGateway, fails: "Milo cannot be reached for the project's quota"},
		"not permitted":                {handler: forbidden, fails: "Milo refuses the add-on the project's quota"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			lookup, _ := s.lookup(t)
			s.on("north"+grantsPath, c.handler)
			limit, known, err := lookup.InstanceAllowance(t.Context(), named("north", "1"))
			if limit != c.limit || known != c.known || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("got %d, %t, %v", limit, known, err)
			}
			if got := s.requests(); !slices.Equal(got, []string{"north" + grantsPath}) {
				t.Errorf("asked for %q", got)
			}
		})
	}
}

func TestInstanceAllowanceIsRemembered(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	s.on("north"+grantsPath, http.NotFound)
	for _, step := range []time.Duration{0, 5*time.Second - 1, 1} {
		fake.Step(step)
		if _, known, err := lookup.InstanceAllowance(t.Context(), named("north", "1")); known || err != nil {
			t.Errorf("known %t, %v", known, err)
		}
	}
	if n := len(s.requests()); n != 2 {
		t.Errorf("Milo was asked %d times in 5 s and a moment", n)
	}
}

func TestProjectState(t *testing.T) {
	is := func(conditionType, status string) metav1.Condition {
		return metav1.Condition{Type: conditionType, Status: metav1.ConditionStatus(status)}
	}
	for _, c := range []struct {
		conditions       []metav1.Condition
		ready, suspended bool
	}{
		{},
		{conditions: []metav1.Condition{is("Ready", "False"), is("Suspended", "False")}},
		{conditions: []metav1.Condition{is("Ready", "Unknown")}},
		{conditions: []metav1.Condition{is("Ready", "True")}, ready: true},
		{conditions: []metav1.Condition{is("Ready", "True"), is("Suspended", "True")}, ready: true, suspended: true},
	} {
		p := named("north", "1")
		p.Status.Conditions = c.conditions
		if p.IsReady() != c.ready || p.IsSuspended() != c.suspended || p.IsDeleting() {
			t.Errorf("%v: ready %t, suspended %t, deleting %t", c.conditions, p.IsReady(), p.IsSuspended(), p.IsDeleting())
		}
		p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
		if !p.IsDeleting() {
			t.Error("a Project with a deletionTimestamp is not being deleted")
		}
	}
}
