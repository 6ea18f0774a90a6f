// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

func TestObserve(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(began)
	book := NewBook(clock)
	web, api := requestOf("web"), requestOf("api")
	lasting, other := Finding{Fault: WorkMissing, Cell: "a"}, Finding{Fault: WorkMissing, Cell: "b"}
	known := Finding{Fault: WorkDeleting, Cell: "c", Since: began.Add(-time.Hour)}
	if got := book.Observe(web, []Finding{lasting, known}); !got[0].Since.Equal(began) || !got[1].Since.Equal(known.Since) {
		t.Errorf("at first: %+v", got)
	}
	clock.SetTime(began.Add(time.Minute))
	if got := book.Observe(web, []Finding{other, lasting}); !got[0].Since.Equal(clock.Now()) || !got[1].Since.Equal(began) {
		t.Errorf("a minute later: %+v", got)
	}
	if got := book.Observe(api, []Finding{lasting}); !got[0].Since.Equal(clock.Now()) {
		t.Errorf("of another deployment: %+v", got)
	}
	book.Observe(web, []Finding{other})
	clock.SetTime(began.Add(time.Hour))
	if got := book.Observe(web, []Finding{lasting}); !got[0].Since.Equal(clock.Now()) {
		t.Errorf("what ended begins anew: %+v", got)
	}
	book.Observe(web, nil)
	book.Observe(api, nil)
	if got := book.Observe(web, []Finding{lasting}); !got[0].Since.Equal(clock.Now()) {
		t.Errorf("of a deployment that was in order it remembers %+v", got)
	}
}

func TestRest(t *testing.T) {
	for name, test := range map[string]struct {
		finding Finding
		want    time.Duration
	}{
		"new":                       {Finding{Since: began}, time.Minute},
		"older":                     {Finding{Since: began.Add(-40 * time.Second)}, 20 * time.Second},
		"old":                       {Finding{Since: began.Add(-time.Hour)}, 0},
		"by a clock that is ahead":  {Finding{Since: began.Add(time.Hour)}, time.Minute},
		"what is certain, from now": {Finding{Since: began, Certain: true}, 0},
	} {
		if got := test.finding.Rest(began, time.Minute); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func requestOf(name string) mcreconcile.Request {
	request := mcreconcile.Request{ClusterName: "north"}
	request.Namespace, request.Name = "default", name
	return request
}
