// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/x509"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

const day = 24 * time.Hour

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// paper creates CAs without keys, which is a thousand times faster.
type paper struct {
	kind

	serial int64
	err    error
}

func (p *paper) New(now time.Time) (*ca, error) {
	p.serial++
	return paperCA(p.serial, now, 60*day), p.err
}

func paperPolicy() rotation.Policy[ca] {
	return rotation.Policy[ca]{Kind: &paper{}, Phases: rotation.Phases{Ahead: true, Delay: time.Minute, Settle: 7 * day}}
}

func paperCA(serial int64, now time.Time, life time.Duration) *ca {
	return &ca{cert: &x509.Certificate{
		Raw:          big.NewInt(serial).Bytes(),
		SerialNumber: big.NewInt(serial),
		NotBefore:    now.Add(-backdate).Truncate(time.Second),
		NotAfter:     now.Add(life).Truncate(time.Second),
	}}
}

func TestAdvance(t *testing.T) {
	young, old := paperCA(101, epoch, 60*day), paperCA(102, epoch.Add(-40*day), 60*day)
	expired, next := paperCA(103, epoch.Add(-61*day), 60*day), paperCA(104, epoch, 60*day)
	names := map[int64]string{1: "made", 101: "young", 102: "old", 103: "expired", 104: "next"}
	ago := func(d time.Duration) time.Time { return epoch.Add(-d) }
	tests := map[string]struct {
		state   state
		trusted rotation.Registered
		step    string // how it begins
		after   string // as shape tells it; "" means as before
	}{
		"nothing yet":     {state{}, rotation.RegisteredUnknown, "created the first", "made - -"},
		"young":           {state{Current: young}, rotation.RegisteredComplete, "", ""},
		"two thirds over": {state{Current: old}, rotation.RegisteredUnknown, "created the next", "old made -"},
		"forced":          {state{Current: young, Request: "x"}, rotation.RegisteredUnknown, "created the next", "young made -"},
		"forced twice":    {state{Current: young, Next: next, Request: "x"}, rotation.RegisteredUnknown, "a rotation was", "young next -"},
		"not trusted yet": {state{Current: old, Next: next}, rotation.RegisteredMissing, "", ""},
		"trusted":         {state{Current: old, Next: next}, rotation.RegisteredComplete, "every webhook configuration", "old next - trusted"},
		"trust lost": {
			state{Current: old, Next: next, RegisteredSince: ago(time.Hour)}, rotation.RegisteredMissing, "some webhook configuration", "old next -",
		},
		"trust lost while another step is due": {
			state{Current: old, Next: next, Previous: young, RegisteredSince: ago(time.Hour), CurrentSince: ago(9 * day), Request: "x"},
			rotation.RegisteredMissing, "some webhook configuration", "old next young forced",
		},
		"trust unknown": {state{Current: old, Next: next, RegisteredSince: ago(time.Hour)}, rotation.RegisteredUnknown, "", ""},
		"delay runs":    {state{Current: old, Next: next, RegisteredSince: ago(59 * time.Second)}, rotation.RegisteredComplete, "", ""},
		"delay over": {
			state{Current: old, Next: next, RegisteredSince: ago(time.Minute)}, rotation.RegisteredComplete, "promoted the next", "next - old",
		},
		"delay over, one still leaving": {
			state{Current: old, Next: next, Previous: young, CurrentSince: ago(day), RegisteredSince: ago(time.Hour)},
			rotation.RegisteredComplete, "", "",
		},
		"leaves may be valid": {state{Current: young, Previous: old, CurrentSince: ago(7 * day)}, rotation.RegisteredUnknown, "", ""},
		"leaves are gone": {
			state{Current: young, Previous: old, CurrentSince: ago(7*day + time.Second)},
			rotation.RegisteredUnknown,
			"deleted the previous", "young - -",
		},
		"previous expired": {
			state{Current: young, Previous: expired, CurrentSince: ago(time.Hour)}, rotation.RegisteredUnknown, "deleted the previous", "young - -",
		},
		"promotion's time lost": {state{Current: young, Previous: old}, rotation.RegisteredUnknown, "stamped", "young - old"},
		"expired":               {state{Current: expired}, rotation.RegisteredUnknown, "replaced the current at once", "made - -"},
		"expired with a next":   {state{Current: expired, Next: next}, rotation.RegisteredMissing, "promoted the next at once", "next - -"},
		"next expired": {
			state{Current: old, Next: expired, RegisteredSince: ago(time.Hour)}, rotation.RegisteredComplete, "deleted the next", "old - -",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.state.CurrentSince.IsZero() && !strings.HasPrefix(tt.step, "stamped") {
				tt.state.CurrentSince = ago(time.Hour)
			}
			after, did, err := paperPolicy().Advance(tt.state, epoch, tt.trusted)
			step := did.Does
			if err != nil || !strings.HasPrefix(step, tt.step) || (step == "") != (tt.step == "") {
				t.Fatalf("step %q, want %q; error %v", step, tt.step, err)
			}
			if step == "" && after != tt.state {
				t.Errorf("no step, but the state became %s", shape(after, names))
			}
			if got := shape(after, names); tt.after != "" && got != tt.after {
				t.Errorf("the state became %s, want %s", got, tt.after)
			}
		})
	}
}

// shape renders current, next and previous, and the timestamps.
func shape(s state, names map[int64]string) string {
	var words []string
	for _, c := range []*ca{s.Current, s.Next, s.Previous} {
		if c == nil {
			words = append(words, "-")
		} else {
			words = append(words, names[c.cert.SerialNumber.Int64()])
		}
	}
	for _, flag := range []struct {
		set  bool
		word string
	}{{!s.RegisteredSince.IsZero(), "trusted"}, {s.Request != "", "forced"}} {
		if flag.set {
			words = append(words, flag.word)
		}
	}
	return strings.Join(words, " ")
}

func TestThePreviousCAHasNoKey(t *testing.T) {
	current, next := realCA(t, epoch, day), realCA(t, epoch, day)
	after, _, err := paperPolicy().Advance(
		state{Current: current, Next: next, CurrentSince: epoch, RegisteredSince: epoch}, epoch.Add(time.Hour), rotation.RegisteredComplete)
	if err != nil || !after.Previous.equals(current) || after.Previous.key != nil || after.Current != next {
		t.Errorf("%v, %v", after, err)
	}
}

func TestAdvanceReportsThatNoCAWasMade(t *testing.T) {
	p := rotation.Policy[ca]{Kind: &paper{err: errors.New("no entropy")}}
	if _, _, err := p.Advance(state{}, epoch, rotation.RegisteredUnknown); err == nil {
		t.Error("no error")
	}
}

// walk follows a state over time and keeps the history that the invariants need.
type walk struct {
	*testing.T
	policy       rotation.Policy[ca]
	state        state
	now          time.Time
	inBundle     map[*x509.Certificate]time.Time // since when
	trustedSince map[*x509.Certificate]time.Time // without an answer to the contrary
	lastLeaf     map[*x509.Certificate]time.Time // when the last leaf expires
	promotions   int
}

func newWalk(t *testing.T) *walk {
	return &walk{
		T: t, policy: paperPolicy(), now: epoch,
		inBundle:     map[*x509.Certificate]time.Time{},
		trustedSince: map[*x509.Certificate]time.Time{},
		lastLeaf:     map[*x509.Certificate]time.Time{},
	}
}

func (w *walk) bundle() map[*x509.Certificate]bool {
	certs := map[*x509.Certificate]bool{}
	for _, c := range []*ca{w.state.Current, w.state.Next, w.state.Previous} {
		if c != nil && !c.expired(w.now) {
			certs[c.cert] = true
		}
	}
	return certs
}

func (w *walk) step(d time.Duration, trusted rotation.Registered, force bool) {
	w.Helper()
	w.now = w.now.Add(d)
	if force {
		w.state.Request = rotation.CauseRequested
	}
	if next := w.state.Next; next != nil {
		if trusted == rotation.RegisteredMissing {
			delete(w.trustedSince, next.cert)
		} else if _, since := w.trustedSince[next.cert]; trusted == rotation.RegisteredComplete && !since {
			w.trustedSince[next.cert] = w.now
		}
	}
	before := w.state
	after, _, err := w.policy.Advance(before, w.now, trusted)
	if err != nil {
		w.Fatal(err)
	}
	w.state = after
	w.checkPromotion(before)
	w.checkBundle()
	// Every replica may sign a leaf now.
	expires := earlier(w.now.Add(w.policy.Phases.Settle), after.Current.cert.NotAfter)
	w.lastLeaf[after.Current.cert] = expires
}

func (w *walk) checkPromotion(before state) {
	w.Helper()
	if before.Current == nil || before.Current.equals(w.state.Current) || before.Current.expired(w.now) {
		return // nothing that clients trusted was replaced
	}
	w.promotions++
	cert := w.state.Current.cert
	if since, ok := w.inBundle[cert]; !ok || w.now.Sub(since) < w.policy.Phases.Delay {
		w.Fatalf("%s: promoted a CA that is in the bundle since %s", w.now, since)
	}
	if since, ok := w.trustedSince[cert]; !ok || w.now.Sub(since) < w.policy.Phases.Delay {
		w.Fatalf("%s: promoted a CA that is trusted since %s", w.now, since)
	}
	if w.state.Previous == nil {
		w.Fatalf("%s: the former CA was not kept", w.now)
	}
}

func (w *walk) checkBundle() {
	w.Helper()
	bundle := w.bundle()
	if !bundle[w.state.Current.cert] {
		w.Fatalf("%s: the leaf's CA is not in the bundle", w.now)
	}
	for cert := range bundle {
		if _, known := w.inBundle[cert]; !known {
			w.inBundle[cert] = w.now
		}
	}
	for cert := range w.inBundle {
		if bundle[cert] {
			continue
		}
		if !w.lastLeaf[cert].Before(w.now) {
			w.Fatalf("%s: dropped a CA with a leaf until %s", w.now, w.lastLeaf[cert])
		}
		delete(w.inBundle, cert)
	}
}

func TestAnyWalkKeepsEveryLeafTrusted(t *testing.T) {
	promotions := 0
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newWalk(t)
		strides := []time.Duration{time.Second, 11 * time.Second, time.Minute, time.Hour, day, 9 * day}
		// Some walks have only small steps of time, some mostly long ones.
		strides = strides[:2+random.IntN(len(strides)-1)]
		for range 1500 {
			stride := time.Duration(random.Int64N(int64(strides[random.IntN(len(strides))])) + 1)
			w.step(stride, rotation.Registered(random.IntN(3)), random.IntN(200) == 0)
		}
		promotions += w.promotions
	}
	if promotions < 100 {
		t.Errorf("only %d promotions: the walks show little", promotions)
	}
}

func TestFromAnywhereItRotatesInTime(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 2))
		w := newWalk(t)
		for range random.IntN(400) {
			w.step(time.Duration(random.Int64N(int64(day))), rotation.Registered(random.IntN(3)), false)
		}
		w.promotions = 0
		for range 70 * 24 {
			w.step(time.Hour, rotation.RegisteredComplete, false)
		}
		if w.promotions == 0 {
			t.Fatalf("seed %d: no rotation in longer than a CA's life", seed)
		}
		// The steps take an hour each here, four of them a rotation.
		if left := w.state.Current.cert.NotAfter.Sub(w.now); left < 60*day/3-5*time.Hour {
			t.Fatalf("seed %d: the CA has %s left", seed, left)
		}
	}
}
