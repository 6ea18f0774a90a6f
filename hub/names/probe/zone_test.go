// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/testenv/nameserver"
)

const zoneRecords = `
web     A     203.0.113.7
web     A     203.0.113.8
web     AAAA  2001:db8::7
text    TXT   "no address"
*.any   A     198.51.100.9
alias   CNAME lb.example.net.
flat    A     203.0.113.20
lb      A     203.0.113.20
`

// TestTheZoneIsAsked: one of the addresses is enough, the answer of a wildcard is not the name's own, and only an answer of the server
// proves that a record is missing.
func TestTheZoneIsAsked(t *testing.T) {
	t.Parallel()
	zone := newZone(nameserver.Start(t, zoneRecords).Address)
	for _, test := range []struct {
		name      string
		addresses []string
		want      outcome
	}{
		{"web.example.com", []string{"203.0.113.7", "203.0.113.8", "2001:db8::7"}, answered},
		{"web.example.com", []string{"203.0.113.99", "203.0.113.8"}, answered},
		{"web.example.com", []string{"2001:0DB8:0::7"}, answered},
		{"web.example.com", []string{"203.0.113.99"}, failed},
		{"nowhere.example.com", []string{"203.0.113.7"}, failed},
		{"nowhere.example.com", []string{"lb.example.net"}, failed},
		{"text.example.com", []string{"203.0.113.7"}, failed},
		{"web.any.example.com", []string{"203.0.113.7"}, failed},
		{"alias.example.com", []string{"LB.example.net"}, answered},
		{"alias.example.com", []string{"other.example.net"}, failed},
		// An alias of the provider's own type has addresses.
		{"flat.example.com", []string{"lb.example.com"}, answered},
		{"flat.example.com", []string{"web.example.com"}, failed},
		{"flat.example.com", []string{"lb.example.net"}, notAsked},
		// The server refuses the names of other zones.
		{"web.example.net", []string{"203.0.113.7"}, notAsked},
		{"web.example.net", []string{"lb.example.net"}, notAsked},
	} {
		target := RecordOf(test.name, test.addresses)[0]
		if got := zone.ask(t.Context(), &target); got != test.want {
			t.Errorf("%s with %v: %d, want %d", test.name, test.addresses, got, test.want)
		}
	}
	if got := RecordOf("web.example.com", nil); got != nil {
		t.Errorf("without addresses %v is asked", got)
	}
}

// TestAResolverThatDoesNotAnswer proves nothing. It is logged once until it answers.
func TestAResolverThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	ctx, target := log.IntoContext(t.Context(), logger), RecordOf("web.example.com", []string{"203.0.113.7"})[0]
	zone := newZone(silent.LocalAddr().String())
	for _, want := range []int{0, 0, 1, 1} {
		if got := zone.ask(ctx, &target); got != notAsked || len(lines) != want {
			t.Errorf("it is %d, and the log has %q", got, lines)
		}
	}
	zone.resolver = newZone(nameserver.Start(t, zoneRecords).Address).resolver
	if got := zone.ask(ctx, &target); got != answered || len(lines) != 1 || zone.unanswered.Load() != 0 {
		t.Errorf("it is %d, and the log has %q", got, lines)
	}
}

// named are questions for the records of names.
func named(first, last int) (targets []Target) {
	for i := first; i <= last; i++ {
		targets = append(targets, RecordOf(fmt.Sprintf("web-%d.example.com", i), []string{"203.0.113.7"})...)
	}
	return targets
}

// withZone lets a Prober ask for records. down has the names that the zone lacks, and cut stands for a resolver that does not answer.
func withZone(n *network) {
	n.zone = newZone("192.0.2.53:53")
	address := n.question
	n.question = func(ctx context.Context, r *record) outcome {
		if !r.ofZone() {
			return address(ctx, r)
		}
		n.mu.Lock()
		n.asked[r.Host]++
		lacks, silent := n.down[r.Host], n.broken["resolver"]
		n.mu.Unlock()
		switch {
		case silent:
			<-time.After(timeout)
			return notAsked
		case lacks:
			return failed
		}
		return answered
	}
}

// TestRecordsAreAsked: not before the first minute, and then once a minute. The first answer that lacks the addresses counts. A resolver
// that does not answer changes nothing, and a replica that starts keeps what is stored until it does.
func TestRecordsAreAsked(t *testing.T) {
	for _, asksAddresses := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, withZone, func(n *network) {
				if !asksAddresses {
					n.interval = 0
				}
			})
			targets, stored, dfw := named(1, 2), named(3, 3), of("DFW", 1, 1)
			n.change(func() { n.broken["resolver"] = true }, 0)
			n.Set(workload("north", "web"), append(targets, dfw...), nil)
			n.Set(workload("north", "stored"), stored, func(Target) bool { return true })
			n.pass(zoneInterval - timeout)
			if n.asked["web-1.example.com"] > 0 {
				t.Error("it is asked at once")
			}
			n.pass(time.Hour)
			n.want(t, Pending, targets...)
			n.want(t, Lost, stored...)
			n.requested()
			n.change(func() { delete(n.broken, "resolver"); clear(n.asked); n.down["web-1.example.com"] = true }, 10*zoneInterval)
			if got := n.asked["web-1.example.com"]; got < 9 || got > 11 {
				t.Errorf("it is asked %d times in 10 minutes", got)
			}
			n.want(t, Lost, targets[0])
			n.want(t, Answers, targets[1], stored[0])
			if answer, since := n.Answer(targets[0]); answer != Lost || time.Since(since) < 8*zoneInterval {
				t.Errorf("it is %d since %s", answer, since)
			}
			if got := fmt.Sprint(n.requested()); got != "[stored web web]" && got != "[stored web]" {
				t.Errorf("requested are %s", got)
			}
			if got := n.Lost(); got != 0 {
				t.Errorf("%d addresses are lost", got)
			}
			n.change(func() { n.broken["resolver"] = true }, time.Hour)
			n.want(t, Lost, targets[0])
			n.want(t, Answers, targets[1])
			if asked := n.asked["DFW-1"] > 0; asked != asksAddresses {
				t.Errorf("addresses are asked: %t", asked)
			}
		})
	}
}

// TestAResolverDelaysNoAddress: the questions to a resolver that does not answer are few at once, and the addresses do not wait for them.
func TestAResolverDelaysNoAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, withZone)
		n.change(func() { n.broken["resolver"] = true }, 0)
		n.Set(workload("north", "web"), named(1, 4000), nil)
		n.Set(workload("south", "web"), of("DFW", 1, 50), nil)
		n.pass(3 * zoneInterval)
		n.mu.Lock()
		asked := 0
		for i := range 4000 {
			asked += n.asked[fmt.Sprintf("web-%d.example.com", i+1)]
		}
		n.mu.Unlock()
		if most := int(2 * zoneInterval / timeout * zoneAtOnce); asked == 0 || asked > most {
			t.Errorf("the resolver is asked %d times, want at most %d", asked, most)
		}
		n.want(t, Answers, of("DFW", 1, 50)...)
		if got := n.asked["DFW-1"]; got < int(3*zoneInterval/interval)-1 {
			t.Errorf("an address is asked %d times", got)
		}
	})
}

// TestNoResolver: no record is asked, nor kept.
func TestNoResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		n.Set(workload("north", "web"), named(1, 1), func(Target) bool { return true })
		n.want(t, Unknown, named(1, 1)...)
		n.mu.Lock()
		defer n.mu.Unlock()
		if got := n.created[multicluster.ClusterName("north")]; got != 0 {
			t.Errorf("%d are kept", got)
		}
	})
}
