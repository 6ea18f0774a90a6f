// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	testingclock "k8s.io/utils/clock/testing"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

func TestObserve(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(began)
	book := NewBook(clock)
	web, api := requestOf("web"), requestOf("api")
	lasting, other := Finding{Fault: WorkMissing, Cell: "a"}, Finding{Fault: WorkMissing, Cell: "b"}
	known := Finding{Fault: WorkDeleting, Cell: "c", Since: began.Add(-time.Hour)}
	if got := book.Observe(web, OwnPath, []Finding{lasting, known}); !got[0].Since.Equal(began) || !got[1].Since.Equal(known.Since) {
		t.Errorf("at first: %+v", got)
	}
	clock.SetTime(began.Add(time.Minute))
	if got := book.Observe(web, OwnPath, []Finding{other, lasting}); !got[0].Since.Equal(clock.Now()) || !got[1].Since.Equal(began) {
		t.Errorf("a minute later: %+v", got)
	}
	if got := book.Observe(api, OwnPath, []Finding{lasting}); !got[0].Since.Equal(clock.Now()) {
		t.Errorf("of another deployment: %+v", got)
	}
	book.Observe(web, OwnPath, []Finding{other})
	clock.SetTime(began.Add(time.Hour))
	if got := book.Observe(web, OwnPath, []Finding{lasting}); !got[0].Since.Equal(clock.Now()) {
		t.Errorf("what ended begins anew: %+v", got)
	}
	book.Observe(web, OwnPath, nil)
	book.Observe(api, OwnPath, nil)
	if got := book.Observe(web, OwnPath, []Finding{lasting}); !got[0].Since.Equal(clock.Now()) {
		t.Errorf("of a deployment that was in order it remembers %+v", got)
	}
}

// TestObserveKeepsTheOtherScope: projection judges the path of a deployment at each report of a cell, and the collector
// judges the paths of its slices at intervals.
func TestObserveKeepsTheOtherScope(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(began)
	book, web := NewBook(clock), requestOf("web")
	slice, own := Finding{Fault: WorkNotApplied, Cell: "a", Slice: "web-16"}, Finding{Fault: WorkMissing, Cell: "a"}

	book.Observe(web, SlicePaths, []Finding{slice})
	book.Observe(web, OwnPath, []Finding{own})
	clock.SetTime(began.Add(10 * time.Second))
	book.Observe(web, OwnPath, nil)
	clock.SetTime(began.Add(20 * time.Second))
	if got := book.Observe(web, SlicePaths, []Finding{slice}); !got[0].Since.Equal(began) {
		t.Errorf("a judgement of the deployment ended the finding of a slice: %+v", got)
	}
	if got := book.Observe(web, OwnPath, []Finding{own}); !got[0].Since.Equal(clock.Now()) {
		t.Errorf("a finding of the deployment that ended begins at %s", got[0].Since)
	}

	book.Replace(web, SlicePaths, []Finding{slice})
	book.Replace(web, OwnPath, []Finding{own})
	book.Replace(web, OwnPath, nil)
	if got := book.OfSlices(web); len(got) != 1 {
		t.Errorf("lasting findings of slices: %+v, want one", got)
	}
	book.Replace(web, SlicePaths, nil)
	if got := book.OfSlices(web); len(got) > 0 {
		t.Errorf("lasting findings of slices: %+v, want none", got)
	}
}

// TestNoPageWithoutEngagement: a leftover slice makes the judgement of its deployment due, whichever replica has the
// project. Only the end of an engagement drops the pages of a project.
func TestNoPageWithoutEngagement(t *testing.T) {
	t.Parallel()
	book, web := NewBook(testingclock.NewFakePassiveClock(began)), requestOf("web")
	if book.SetSlicesJudged(web, time.Time{}); len(book.pages.All()) > 0 {
		t.Errorf("it remembers a deployment of a project that is not engaged: %v", book.pages.All())
	}
	source, _, err := book.Engagements().ForCluster(web.ClusterName, nil)
	if err != nil {
		t.Fatal(err)
	}
	engaged, disengage := context.WithCancel(t.Context())
	if err := source.Start(engaged, nil); err != nil {
		t.Fatal(err)
	}
	book.SetSlicesJudged(web, began)
	if book.SetSlicesJudged(web, time.Time{}); !book.SlicesJudged(web).IsZero() {
		t.Error("no judgement of an engaged project is due")
	}
	disengage()
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return len(book.pages.All()) == 0, nil
	}); err != nil {
		t.Fatal("it remembers a project that is disengaged")
	}
	if book.SetSlicesJudged(web, time.Time{}); len(book.pages.All()) > 0 {
		t.Errorf("it remembers a deployment of a project that is disengaged: %v", book.pages.All())
	}
	if book.Observe(web, OwnPath, []Finding{{Fault: WorkMissing}}); len(book.pages.All()) > 0 {
		t.Errorf("it remembers the findings of a judgement that ended after the engagement: %v", book.pages.All())
	}
}

// TestNoPageWithoutFindings: a deployment that is gone has no page.
func TestNoPageWithoutFindings(t *testing.T) {
	t.Parallel()
	book, web := NewBook(testingclock.NewFakePassiveClock(began)), requestOf("web")
	if book.Observe(web, OwnPath, nil); len(book.pages.Of(web.ClusterName)) > 0 {
		t.Errorf("it has %v", book.pages.Of(web.ClusterName))
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
		if got := test.finding.Remaining(began, time.Minute); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func requestOf(name string) mcreconcile.Request {
	request := mcreconcile.Request{ClusterName: "north"}
	request.Namespace, request.Name = "default", name
	return request
}
