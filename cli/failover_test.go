// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// spreading lets a placement run in some of its cities. "" as return leaves out failover.
func spreading(p v1alpha.WorkloadPlacement, count int32, back v1alpha.FailoverReturn) v1alpha.WorkloadPlacement {
	p.Spread = &v1alpha.PlacementSpread{Cities: count}
	if back != "" {
		p.Spread.Failover = &v1alpha.PlacementFailover{Return: back}
	}
	return p
}

// chosen writes which candidates the hub has chosen, such as "DFW:Running ORD:Away:LAX".
func (f *fixture) chosen(w *v1alpha.Workload, records map[string]string) {
	f.Helper()
	f.get(w)
	w.Status.Placements = nil
	for placement, record := range records {
		status := v1alpha.WorkloadPlacementStatus{Name: placement}
		for text := range strings.FieldsSeq(record) {
			parts := append(strings.Split(text, ":"), "")
			status.Cities = append(status.Cities, v1alpha.PlacementCity{
				City: parts[0], Phase: v1alpha.PlacementCityPhase(parts[1]), ReplacedBy: parts[2],
			})
		}
		w.Status.Placements = append(w.Status.Placements, status)
	}
	f.update(w)
}

// TestFailover: a consumer leaves cities and lets them return.
func TestFailover(t *testing.T) {
	f := newFixture(t)
	w := f.workload(spreading(placement("us", 2, "dfw", "ORD", "SEA", "LAX"), 2, v1alpha.ReturnWhenHealthy))
	f.chosen(w, map[string]string{"us": "DFW:Running ORD:Running"})
	consumer := f.user(may([]string{"get", "patch"}, "workloads"))
	annotations := func(leave, requested string) {
		t.Helper()
		f.get(w)
		if got := w.Annotations[v1alpha.AnnotationLeaveCities]; got != leave {
			t.Errorf("leaves %q, want %q", got, leave)
		}
		if got := w.Annotations[v1alpha.AnnotationReturnRequested]; got != requested {
			t.Errorf("the return is requested at %q, want %q", got, requested)
		}
	}

	tried := f.kubectl(consumer, "failover", "web", "--from=dfw", "--to=lax", "--dry-run=server", "--diff")
	f.want(tried, 0, "+    compute.datumapis.com/leave-cities: DFW=LAX", "web failover requested (server dry run)")
	if strings.Contains(tried.out, "rollout plan") {
		t.Errorf("nothing follows from a dry run:\n%s", tried.out)
	}
	annotations("", "")

	f.want(f.kubectl(consumer, "failover", "wl/web", "--from=dfw", "--to=lax"), 0,
		"workload.compute.datumapis.com/web failover requested\nLAX gets the Instances of DFW as soon as it can run them.",
		"DFW gets no Instances again before `kubectl compute failover web --return DFW`.", "`kubectl compute rollout plan web` shows")
	annotations("DFW=LAX", "")
	f.want(f.kubectl(consumer, "failover", "web", "--from=DFW", "--to=LAX"), 1, "leaves DFW already: `kubectl compute rollout plan web`")
	f.want(f.kubectl(consumer, "failover", "web", "--from=DFW"), 0, "The next candidate gets the Instances of DFW")
	f.want(f.kubectl(consumer, "failover", "web", "--from=ORD", "--to=SEA"), 0)
	annotations("DFW,ORD=SEA", "")

	f.want(f.kubectl(consumer, "failover", "web", "--return", "dfw"), 0, "web return requested\nCities that get their", ": DFW.")
	annotations("ORD=SEA", "2026-05-01T12:01:00Z")
	f.chosen(w, map[string]string{"us": "DFW:Running SEA:Running ORD:Away:SEA"})
	// The city that should run the Instances is not left any more.
	f.want(f.kubectl(consumer, "failover", "web", "--from=SEA", "--to=ORD"), 0)
	annotations("SEA=ORD", "2026-05-01T12:01:00Z")
	f.want(f.kubectl(consumer, "failover", "web", "--return"), 0, "no rollout is in progress: ORD, SEA.")
	annotations("", "2026-05-01T12:01:00Z")

	f.want(f.kubectl(f.Config(), "__complete", "failover", ""), 0, "web\n:4")
	f.want(f.kubectl(f.Config(), "__complete", "failover", "web", "--from", ""), 0, "DFW\nSEA\n:4")
	f.want(f.kubectl(f.Config(), "__complete", "failover", "web", "--to", ""), 0, "ORD\nLAX\n:4")
	f.want(f.kubectl(f.Config(), "__complete", "failover", "web", "--return", ""), 0, "ORD\n:4")
}

// TestFailoverNever: cities that do not return are left, and get Instances again by the same way.
func TestFailoverNever(t *testing.T) {
	f := newFixture(t)
	w := f.workload(spreading(placement("us", 2, "DFW", "ORD"), 1, v1alpha.ReturnNever),
		spreading(placement("eu", 2, "AMS", "LHR"), 1, v1alpha.ReturnWhenHealthy))
	f.chosen(w, map[string]string{"us": "DFW:Running", "eu": "LHR:Running AMS:Away:LHR"})
	f.want(f.kubectl(f.Config(), "failover", "web", "--from=DFW"), 0, "before `kubectl compute failover web --from CITY --to DFW`")
	never := "spread.failover.return: Never, so that nothing returns to DFW: `kubectl compute failover web --from ORD --to DFW`"
	f.chosen(w, map[string]string{"us": "ORD:Running DFW:Leaving:ORD", "eu": "LHR:Running AMS:Away:LHR"})
	f.want(f.kubectl(f.Config(), "failover", "web", "--return", "DFW"), 1, never)
	f.want(f.kubectl(f.Config(), "failover", "web", "--return"), 0, "in progress: AMS.")
	f.get(w)
	if got := w.Annotations[v1alpha.AnnotationLeaveCities]; got != "DFW" {
		t.Errorf("the city that does not return is left no more: %q", got)
	}
	f.chosen(w, map[string]string{"us": "ORD:Running DFW:Leaving:ORD", "eu": "AMS:Running"})
	f.want(f.kubectl(f.Config(), "failover", "web", "--return"), 1, never)
	f.want(f.kubectl(f.Config(), "failover", "web", "--from=ORD", "--to=DFW"), 0, "DFW gets the Instances of ORD")
}

// TestFailoverRefused: what has no effect is refused before anything is written.
func TestFailoverRefused(t *testing.T) {
	f := newFixture(t)
	w := f.workload(
		spreading(placement("us", 2, "DFW", "ORD", "SEA", "LAX"), 2, v1alpha.ReturnWhenHealthy),
		spreading(placement("full", 2, "LHR", "AMS"), 2, v1alpha.ReturnWhenHealthy),
		spreading(placement("new", 2, "NRT", "HND"), 1, v1alpha.ReturnWhenHealthy),
		spreading(placement("held", 2, "GRU", "EZE"), 1, ""), placement("every", 2, "FRA"),
	)
	f.chosen(w, map[string]string{
		"us": "DFW:Running ORD:Running LAX:Lost:DFW", "full": "LHR:Running AMS:Running", "held": "GRU:Running",
	})
	before := storedVersion(f, w)
	for args, want := range map[string]string{
		"":                         "name the city to leave with --from",
		"--from=DFW --return":      "name the city to leave with --from",
		"--return --to=LAX":        "--to belongs to --from",
		"--from=DFW --to=dfw":      "--from and --to are both DFW",
		"DFW":                      "failover takes the name of a Workload, and cities only after --return, and got 2 arguments",
		"--from=IAD":               "IAD is no candidate of Workload web; its candidates are DFW, ORD, SEA, LAX, LHR, AMS, NRT, HND",
		"--from=GRU":               "placement held has no spread.failover, which lets another city run the Instances of GRU: set it",
		"--from=FRA":               "placement every has no spread.failover",
		"--from=NRT":               "has not chosen among the candidates of placement new yet",
		"--from=SEA":               "SEA does not run Instances of placement us: it is a candidate that is not chosen",
		"--from=LAX":               "LAX does not run Instances of placement us: DFW runs them instead",
		"--from=DFW --to=AMS":      "AMS is no candidate of placement us; its candidates are DFW, ORD, SEA, LAX",
		"--from=DFW --to=ORD":      "ORD runs Instances of placement us already",
		"--from=LHR":               "placement full has no other candidate",
		"--return IAD":             "IAD is no candidate of Workload web",
		"--return DFW":             "DFW was not replaced: nothing is to return",
		"--return LAX FRA":         "FRA was not replaced: nothing is to return",
		"--from=DFW --dry-run=all": "--dry-run: \"all\"",
	} {
		f.want(f.kubectl(f.Config(), append([]string{"failover", "web"}, strings.Fields(args)...)...), 1, want)
	}
	if after := storedVersion(f, w); after != before {
		t.Error("a refused command has written the Workload")
	}
}

// TestFailoverWithoutCandidates: the error names the field to set.
func TestFailoverWithoutCandidates(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	for _, args := range [][]string{{"--from=DFW"}, {"--return"}} {
		f.want(f.kubectl(f.Config(), append([]string{"failover", "web"}, args...)...), 1,
			"no placement of Workload web has spread.failover: set it and name candidates, or remove the city from cityCodes")
	}
	w.Spec.Placements[0] = spreading(w.Spec.Placements[0], 1, v1alpha.ReturnWhenHealthy)
	f.change(w)
	f.chosen(w, map[string]string{"texas": "DFW:Running"})
	f.want(f.kubectl(f.Config(), "failover", "web", "--return"), 1, "no city of Workload web was replaced: nothing is to return")
}
