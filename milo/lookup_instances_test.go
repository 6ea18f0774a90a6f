// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const workloadsPath = "/control-plane/apis/compute.datumapis.com/v1alpha/workloads"

// workloadPages answers with lists of Workloads. Each list but the last has a continue token.
func workloadPages(pages ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		page := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("continue"), &page)
		next := ""
		if page+1 < len(pages) {
			next = fmt.Sprint(page + 1)
		}
		fmt.Fprintf(w, `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadList","metadata":{"continue":%q},"items":[%s]}`, next,
			pages[page])
	}
}

// placed is a Workload of some placements. Its template and metrics have quantities that must not be parsed.
func placed(placements ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":"w"},"spec":{"template":{"spec":{"runtime":{"resources":{"requests":{"cpu":"1e1000000000"}}}}},"placements":[%s]}}`,
		strings.Join(placements, ","))
}

const (
	inCities   = `{"name":"a","cityCodes":["DFW","XXX"],"scaleSettings":{"minReplicas":3}}`
	autoscaled = `{"name":"a","locations":[{"name":"a"}],"scaleSettings":{"minReplicas":3,"maxReplicas":7,
		"metrics":[{"resource":{"name":"cpu","target":{"value":"1e1000000000"}}}]}}`
	// The locations of the project are in ORD, twice, DFW, and XYZ, which is not available.
	selecting = `{"name":"a","locationSelector":{"matchExpressions":[{"key":"topology.datum.net/city-code","operator":"Exists"}]},"scaleSettings":{"minReplicas":2}}`
)

func TestInstancesAreCounted(t *testing.T) {
	cases := map[string]struct {
		handler http.HandlerFunc
		want    int64
		fails   string
	}{
		"no Workloads":         {handler: workloadPages(""), want: 1},
		"cities and locations": {handler: workloadPages(placed(inCities, autoscaled)), want: 6 + 7 + 1},
		"what is selected":     {handler: workloadPages(placed(selecting)), want: 6 + 1},
		"several pages":        {handler: workloadPages(placed(inCities)+","+placed(inCities), placed(inCities)), want: 18 + 1},
		"a gateway error":      {handler: badGateway, fails: "Milo cannot be reached for the project's Workloads"},
		"not a list":           {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[") }, fails: "decode the list"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			lookup, _ := s.lookup(t)
			s.on("north"+workloadsPath, c.handler)
			got, err := lookup.Reserve(t.Context(), named("north", "1"),
				templates.Reservation{More: templates.Demand{Instances: 1}, Limit: templates.Demand{Instances: 100}})
			if got.Instances != c.want || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

// TestBytesAreCounted: of each Workload its annotations, its template, and the template of each Instance.
func TestBytesAreCounted(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	s.on("north"+workloadsPath, workloadPages(strings.Replace(placed(inCities), `"name":"w"`, `"name":"w","annotations":{"a":"1234"}`, 1)))
	const template = `{"spec":{"runtime":{"resources":{"requests":{"cpu":"1e1000000000"}}}}}`
	want := templates.Demand{Instances: 6 + 1, Bytes: 5 + 7*int64(len(template)) + 100}
	for _, most := range []int64{want.Bytes, want.Bytes - 1} {
		got, err := lookup.Reserve(t.Context(), named("north", "1"), templates.Reservation{
			More: templates.Demand{Instances: 1, Bytes: 100}, Limit: templates.Demand{Bytes: most}, DryRun: true,
		})
		if got != want || err != nil {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
}

// TestReservations count until the Workloads are listed again, and a project is called full only after that.
func TestReservations(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	s.on("north"+workloadsPath, workloadPages(placed(inCities)))
	reserve := func(more int64, dryRun bool, want int64, wantLists int) {
		t.Helper()
		s.requests()
		got, err := lookup.Reserve(t.Context(), named("north", "1"),
			templates.Reservation{More: templates.Demand{Instances: more}, Limit: templates.Demand{Instances: 20}, DryRun: dryRun})
		if got.Instances != want || err != nil {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
		lists := slices.DeleteFunc(s.requests(), func(path string) bool { return path != "north"+workloadsPath })
		if len(lists) != wantLists {
			t.Errorf("listed %d times, want %d", len(lists), wantLists)
		}
	}
	reserve(5, false, 11, 1)
	reserve(5, true, 16, 0)
	reserve(5, false, 16, 0)
	// None of these were stored after all.
	reserve(5, false, 11, 1)
	s.on("north"+workloadsPath, workloadPages(placed(inCities)+","+placed(inCities)+","+placed(inCities)))
	reserve(5, false, 16, 0)
	reserve(5, false, 23, 1)
	reserve(2, false, 20, 0)
	fake.Step(6 * time.Second)
	reserve(2, false, 20, 1)
	s.on("north"+workloadsPath, badGateway)
	fake.Step(6 * time.Second)
	reserve(0, false, 20, 1)
}

// TestListOfAProjectThatIsNotNearItsMaximum: the Workloads of a project are not listed every few seconds only because
// Workloads are created, unless the project would use more than half of its maximum.
func TestListOfAProjectThatIsNotNearItsMaximum(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	s.on("north"+workloadsPath, workloadPages(placed(inCities)))
	for _, step := range []struct {
		after     time.Duration
		more      int64
		want      int64
		wantLists int
	}{
		{0, 10, 16, 1},
		{time.Minute, 10, 26, 0},
		{time.Minute, 25, 31, 1},
		{time.Second, 20, 51, 0},
		{4 * time.Second, 1, 7, 1},
		{11 * time.Minute, 1, 7, 1},
	} {
		fake.Step(step.after)
		s.requests()
		got, err := lookup.Reserve(t.Context(), named("north", "1"),
			templates.Reservation{More: templates.Demand{Instances: step.more}, Limit: templates.Demand{Instances: 100}})
		lists := slices.DeleteFunc(s.requests(), func(path string) bool { return path != "north"+workloadsPath })
		if got.Instances != step.want || err != nil || len(lists) != step.wantLists {
			t.Errorf("%s later, %d more: got %d, %v, listed %d times; want %+v", step.after, step.more, got, err, len(lists), step)
		}
	}
}
