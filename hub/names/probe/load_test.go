// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"net"
	"net/netip"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

// TestFiveThousand: 5,000 addresses are 1,000 questions a second, spread evenly, of which few wait at once. 1,000 that fall together
// are Lost in 10 seconds, and 5,000 do not exceed the bound.
func TestFiveThousand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		all := of("ORD", 1, 4000)
		n.Set(workload("north", "web"), all, nil)
		lost := of("DFW", 1, 1000)
		n.Set(workload("south", "web"), lost, nil)
		n.pass(2 * interval)
		n.change(func() { n.times, n.most = nil, 0 }, 20*time.Second)
		perTick := map[time.Time]int{}
		highest := 0
		for _, at := range n.times {
			perTick[at.Truncate(tick)]++
			highest = max(highest, perTick[at.Truncate(tick)])
		}
		t.Logf("%d questions in 20 seconds, at most %d in %s and %d at once", len(n.times), highest, tick, n.most)
		if len(n.times) > 20200 || len(n.times) < 19800 || highest > 200 || n.most > 200 {
			t.Error("that is too many")
		}
		n.change(func() { n.down["DFW"], n.most = true, 0 }, 10*time.Second)
		n.want(t, Lost, lost...)
		n.want(t, Answers, all...)
		if t.Logf("with a city that falls, %d at once", n.most); n.most > atOnce {
			t.Error("that is too many")
		}
		n.change(func() { n.cut, n.most = true, 0 }, 20*time.Second)
		if t.Logf("with a network that is cut, %d at once", n.most); n.most > atOnce {
			t.Error("that is too many")
		}
		n.want(t, Answers, all...)
	})
}

// TestProjectsWithManyDeadAddresses: they delay no other one, although they have more questions than may wait at once.
func TestProjectsWithManyDeadAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		n.change(func() { n.down["FAR"] = true }, 0)
		for i, project := range []multicluster.ClusterName{"south", "west"} {
			n.Set(workload(project, "web"), of("FAR", i*maxOfProject, (i+1)*maxOfProject-1), func(Target) bool { return true })
		}
		small := append(of("DFW", 1, 2), of("ORD", 1, 2)...)
		n.Set(workload("north", "web"), small, nil)
		n.pass(2 * interval)
		n.want(t, Answers, small...)
		n.change(func() { n.down["DFW"] = true }, 0)
		took := n.until(t, func() bool { return n.state(small[:2]...) == Lost })
		if t.Logf("Lost after %s", took); took > 10*time.Second {
			t.Error("that is too late")
		}
	})
}

// BenchmarkAsk is one question to a listener: 5,000 addresses are 1,000 of them a second.
func BenchmarkAsk(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // the benchmark closes it
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // a benchmark's
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	to, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	target := &Target{Ports: [2]int32{int32(to.Port())}}
	defer reportCPU(b)()
	for b.Loop() {
		if local.ask(b.Context(), target, loopback, false) != answered {
			b.Fatal("it does not answer")
		}
	}
}

// BenchmarkBegin is one look for due questions among 5,000 addresses: there are ten in a second.
func BenchmarkBegin(b *testing.B) {
	p := New(Options{Interval: time.Hour, Clock: clock.RealClock{}})
	p.Set(workload("north", "web"), of("DFW", 1, 2500), nil)
	p.Set(workload("south", "web"), of("ORD", 1, 2500), nil)
	defer reportCPU(b)()
	for b.Loop() {
		p.begin()
	}
}

// reportCPU reports the CPU time of an operation, the listener's among it: a machine that is shared makes other times useless.
func reportCPU(b *testing.B) func() {
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before := used()
	b.ReportAllocs()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}
