// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

// TestAKilledCity: its addresses are Lost within 10 seconds, whether they are silent or refuse, and whenever they die. The Workload is
// requested for each change and no other time, and two answers bring the city back.
func TestAKilledCity(t *testing.T) {
	for name, silent := range map[string]bool{"silent": true, "refusing": false} {
		var fell, rose time.Duration
		for offset := time.Duration(0); offset < interval; offset += 240 * time.Millisecond {
			synctest.Test(t, func(t *testing.T) {
				n := start(t)
				dfw, ord := of("DFW", 1, 3), of("ORD", 1, 1)
				n.Set(workload("north", "web"), append(ord, dfw...), nil)
				n.want(t, Pending, append(ord, dfw...)...)
				n.pass(2*interval + offset)
				n.want(t, Answers, append(ord, dfw...)...)
				if w := workload("north", "web"); !n.AnswersIn(w, "dfw") || n.AnswersIn(w, "SEA") || n.AnswersIn(workload("north", "api"), "DFW") {
					t.Error("an answer is one for a Workload in a city")
				}
				n.requested()
				n.change(func() {
					for _, target := range dfw {
						n.down[target.Address], n.broken[target.Address] = silent, !silent
					}
				}, 0)
				fell = max(fell, n.until(t, func() bool { return n.state(dfw...) == Lost }))
				n.want(t, Answers, ord...)
				if got := n.requested(); len(got) == 0 {
					t.Error("the Workload is not requested")
				}
				n.pass(time.Minute + offset)
				n.want(t, Lost, dfw...)
				if w := workload("north", "web"); n.AnswersIn(w, "DFW") || !n.AnswersIn(w, "ORD") {
					t.Error("a city that is lost answers, or another one does not")
				}
				if got := n.requested(); len(got) > 0 {
					t.Errorf("without a change %v are requested", got)
				}
				n.change(func() { clear(n.down); clear(n.broken) }, 0)
				rose = max(rose, n.until(t, func() bool {
					return !slices.ContainsFunc(dfw, func(target Target) bool { return n.state(target) != Answers })
				}))
				if len(n.requested()) == 0 {
					t.Error("the Workload is not requested for its return")
				}
			})
		}
		if t.Logf("%s: lost after at most %s, back after at most %s", name, fell, rose); fell > 10*time.Second || rose > 10*time.Second {
			t.Error("that is too late")
		}
	}
}

// TestTheOthersOfACity: when one address fails, the others of its city are asked at once, and the other city is the witness.
func TestTheOthersOfACity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		dfw, ord := of("DFW", 1, 50), of("ORD", 1, 1)
		n.Set(workload("north", "web"), append(ord, dfw...), nil)
		n.pass(2 * interval)
		n.change(func() { n.down["DFW"] = true }, 0)
		first := n.until(t, func() bool {
			return slices.ContainsFunc(dfw, func(target Target) bool { return n.state(target) == Lost })
		})
		rest := n.until(t, func() bool {
			return !slices.ContainsFunc(dfw, func(target Target) bool { return n.state(target) != Lost })
		})
		if t.Logf("the first after %s, the last %s later", first, rest); rest > 2*timeout {
			t.Error("the others wait for their turn")
		}
	})
}

// TestAReplicaThatReachesNothing: addresses that never answered stay Unknown and are asked seldom. A replica whose network is cut for an
// hour loses none, neither while it is cut nor when it returns, however often that happens.
func TestAReplicaThatReachesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		all := append(of("DFW", 1, 20), of("ORD", 1, 20)...)
		n.change(func() { n.cut = true }, 0)
		n.Set(workload("north", "web"), all, nil)
		n.pass(time.Minute)
		n.change(func() { clear(n.asked) }, time.Hour)
		n.want(t, Unknown, all...)
		if got := n.asked["DFW-1"]; got > int(time.Hour/(seldom*interval))+2 {
			t.Errorf("it is asked %d times in an hour", got)
		}
		n.change(func() { n.cut = false }, time.Minute)
		n.want(t, Answers, all...)
		n.requested()
		for _, down := range []time.Duration{time.Hour, time.Second, 4 * time.Second, 7 * time.Second, 9 * time.Second, time.Minute} {
			n.change(func() { n.cut = true }, down)
			n.want(t, Answers, all...)
			n.change(func() { n.cut = false }, time.Minute)
			n.want(t, Answers, all...)
		}
		if got := n.requested(); len(got) > 0 {
			t.Errorf("requested are %v: an address was Lost for a moment", got)
		}
	})
}

// TestASeededAddress: an address that the stored record has left out stays Lost in a replica that starts, until it answers twice.
func TestASeededAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		dfw, ord := of("DFW", 1, 1), of("ORD", 1, 1)
		isLost := func(target Target) bool { return target.City == "DFW" }
		n.change(func() { n.down["DFW"] = true }, 0)
		n.Set(workload("north", "web"), append(dfw, ord...), isLost)
		n.want(t, Lost, dfw...)
		n.pass(time.Minute)
		n.want(t, Lost, dfw...)
		n.want(t, Answers, ord...)
		n.change(func() { clear(n.down) }, 2*interval)
		n.want(t, Answers, dfw...)
		n.Set(workload("north", "web"), append(dfw, ord...), isLost)
		n.want(t, Answers, dfw...)
	})
}

// TestAnswerOfSeveral: a city answers if one of its addresses does, and is lost if all of them are.
func TestAnswerOfSeveral(t *testing.T) {
	p := New(Options{Interval: interval, Clock: clock.RealClock{}})
	all := of("DFW", 0, 2)
	p.Set(workload("north", "web"), all, nil)
	for i, answer := range []Answer{Unknown, Answers, Lost} {
		p.records[all[i]].answer = answer
	}
	unknown, answers, lost := all[0], all[1], all[2]
	if got := p.Lost(); got != 1 {
		t.Errorf("%d are lost", got)
	}
	for _, test := range []struct {
		targets []Target
		want    Answer
	}{
		{nil, Unknown},
		{[]Target{unknown}, Unknown},
		{[]Target{lost}, Lost},
		{[]Target{lost, lost}, Lost},
		{[]Target{lost, unknown}, Unknown},
		{[]Target{unknown, lost}, Unknown},
		{[]Target{lost, unknown, answers}, Answers},
		{[]Target{answers, lost}, Answers},
		{of("ORD", 1, 1), Pending},
		{append(of("ORD", 1, 1), lost), Pending},
		{append(of("ORD", 1, 1), answers), Answers},
	} {
		if got := p.state(test.targets...); got != test.want {
			t.Errorf("%v gives %d, want %d", test.targets, got, test.want)
		}
	}
}

// TestSince: a city is lost since its last address is, and answers again since the first one does. One that was never lost has no time.
func TestSince(t *testing.T) {
	p := New(Options{Interval: interval, Clock: clock.RealClock{}})
	all, begin := of("DFW", 1, 2), time.Now()
	p.Set(workload("north", "web"), all, nil)
	for i, record := range []history{{answer: Lost, since: begin}, {answer: Lost, since: begin.Add(time.Second)}} {
		p.records[all[i]].history = record
	}
	if answer, since := p.Answer(all...); answer != Lost || since != begin.Add(time.Second) {
		t.Errorf("lost: %d since %s", answer, since)
	}
	for i, record := range []history{{answer: Answers, since: begin.Add(time.Second)}, {answer: Answers, since: begin}} {
		p.records[all[i]].history = record
	}
	if answer, since := p.Answer(all...); answer != Answers || since != begin {
		t.Errorf("answers: %d since %s", answer, since)
	}
	p.records[all[0]].since = time.Time{}
	if answer, since := p.Answer(all...); answer != Answers || !since.IsZero() {
		t.Errorf("never lost: %d since %s", answer, since)
	}
}

// TestTurnedOff: without an interval, and without a Prober, nothing is asked and nothing concluded.
func TestTurnedOff(t *testing.T) {
	for _, p := range []*Prober{nil, New(Options{})} {
		p.Set(workload("north", "web"), of("DFW", 1, 1), func(Target) bool { return true })
		p.Forget(workload("north", "web"))
		if _, engages, err := p.ForCluster("north", nil); engages != (p != nil) || err != nil {
			t.Errorf("it engages: %v, %v", engages, err)
		}
		if got := p.state(of("DFW", 1, 1)...); got != Unknown || p != nil && len(p.records) > 0 {
			t.Errorf("the answer is %d", got)
		}
	}
	if err := New(Options{}).Start(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWhoIsAsked: an address of several Workloads is asked once, is asked while one of them wants it, and tells all of them.
func TestWhoIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		gateway, ord := of("DFW", 1, 1), of("ORD", 1, 1)
		n.Set(workload("north", "a"), append(gateway, ord...), nil)
		n.Set(workload("north", "b"), append(gateway, gateway...), nil)
		n.Set(workload("south", "c"), gateway, nil)
		n.pass(interval + tick)
		if got := n.asked["DFW-1"]; got < 1 || got > 2 {
			t.Errorf("it is asked %d times", got)
		}
		n.pass(interval)
		n.requested()
		n.change(func() { n.down["DFW"] = true }, 10*time.Second)
		if got := fmt.Sprint(n.requested()); got != "[a b c]" {
			t.Errorf("requested are %s", got)
		}
		n.Forget(workload("south", "c"))
		n.Set(workload("north", "b"), nil, nil)
		n.want(t, Lost, gateway...)
		n.Set(workload("north", "a"), ord, nil)
		n.want(t, Pending, gateway...)
		n.change(func() { clear(n.asked) }, time.Minute)
		if n.asked["DFW-1"] > 0 || n.asked["ORD-1"] == 0 {
			t.Errorf("asked are %v", n.asked)
		}
	})
}

// TestADisengagedProject: its targets are forgotten, also the ones of a reconcile that ends later, and the project may return.
func TestADisengagedProject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		dfw, shared := of("DFW", 1, 1), of("ORD", 1, 1)
		n.Set(workload("north", "web"), append(dfw, shared...), nil)
		n.Set(workload("south", "web"), shared, nil)
		n.pass(2 * interval)
		n.leaveNorth()
		synctest.Wait()
		if n.Set(workload("north", "late"), dfw, nil) || !n.Set(workload("north", "late"), nil, nil) {
			t.Error("a project that is not engaged is taken")
		}
		n.want(t, Pending, dfw...)
		n.want(t, Answers, shared...)
		if len(n.wanted) != 1 || len(n.records) != 1 || len(n.engaged) != 1 {
			t.Errorf("in memory are %v, %v, %v", n.wanted, n.records, n.engaged)
		}
		n.engage(t, t.Context(), "north")
		n.Set(workload("north", "web"), append(dfw, shared...), nil)
		n.pass(2 * interval)
		n.want(t, Answers, dfw...)
		n.Forget(workload("north", "web"))
		n.Forget(workload("south", "web"))
		if len(n.wanted)+len(n.records)+len(n.created)+len(n.fallen) != 0 {
			t.Errorf("in memory are %v, %v, %v, %v", n.wanted, n.records, n.created, n.fallen)
		}
	})
}

// TestAProjectThatReturnsAtOnce: the end of its earlier engagement, which is noticed later, forgets nothing of the new one, although a
// controller has one queue for all.
func TestAProjectThatReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		dfw := of("DFW", 1, 1)
		n.engage(t, t.Context(), "north")
		n.Set(workload("north", "web"), dfw, nil)
		n.leaveNorth()
		n.pass(2 * interval)
		n.want(t, Answers, dfw...)
		if got := n.requested(); len(got) != 1 {
			t.Errorf("requested are %v", got)
		}
	})
}

// TestBounds: addresses beyond the bounds of a project, and of all, are not asked, and their room is free again when others are forgotten.
func TestBounds(t *testing.T) {
	p := New(Options{Interval: interval, Clock: clock.RealClock{}})
	for i := range maxTargets/maxOfProject + 1 {
		project := multicluster.ClusterName(fmt.Sprint("project-", i))
		p.Set(workload(project, "web"), of(project.String(), 1, maxOfProject+1), nil)
	}
	if len(p.records) != maxTargets || p.created["project-0"] != maxOfProject {
		t.Fatalf("%d addresses are asked, %d of a project", len(p.records), p.created["project-0"])
	}
	p.Forget(workload("project-0", "web"))
	p.Set(workload("last", "web"), of("last", 1, 1), nil)
	if len(p.records) != maxTargets-maxOfProject+1 {
		t.Errorf("%d addresses are asked", len(p.records))
	}
	for i := range maxTargets/maxOfProject + 1 {
		p.Forget(workload(multicluster.ClusterName(fmt.Sprint("project-", i)), "web"))
	}
	if p.Forget(workload("last", "web")); len(p.records)+len(p.wanted)+len(p.created) > 0 {
		t.Error("memory is left")
	}
}

// TestANewAddressIsAskedAtOnce: one that dies before its first answer is never lost, so that answer must come soon.
func TestANewAddressIsAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		n.pass(interval / 3)
		targets := of("DFW", 1, 50)
		n.Set(workload("north", "web"), targets, nil)
		n.pass(2 * tick)
		n.want(t, Answers, targets...)
	})
}
