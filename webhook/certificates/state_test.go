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
)

const day = 24 * time.Hour

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// paperPolicy creates CAs without keys, which is a thousand times faster.
func paperPolicy() policy {
	var serial int64
	return policy{leafLifetime: 7 * day, trustDelay: time.Minute, makeCA: func(now time.Time) (*ca, error) {
		serial++
		return paperCA(serial, now, 60*day), nil
	}}
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
		trusted trust
		step    string // how it begins
		after   string // as shape tells it; "" means as before
	}{
		"nothing yet":     {state{}, trustUnknown, "created the first", "made - -"},
		"young":           {state{current: young}, trustComplete, "", ""},
		"two thirds over": {state{current: old}, trustUnknown, "created the next", "old made -"},
		"forced":          {state{current: young, force: true}, trustUnknown, "created the next", "young made -"},
		"forced twice":    {state{current: young, next: next, force: true}, trustUnknown, "a rotation was", "young next -"},
		"not trusted yet": {state{current: old, next: next}, trustMissing, "", ""},
		"trusted":         {state{current: old, next: next}, trustComplete, "the next CA is trusted", "old next - trusted"},
		"trust lost":      {state{current: old, next: next, nextTrustedSince: ago(time.Hour)}, trustMissing, "the next CA is no longer", "old next -"},
		"trust lost while another step is due": {
			state{current: old, next: next, previous: young, nextTrustedSince: ago(time.Hour), promotedAt: ago(9 * day), force: true},
			trustMissing, "the next CA is no longer", "old next young promoted forced",
		},
		"trust unknown": {state{current: old, next: next, nextTrustedSince: ago(time.Hour)}, trustUnknown, "", ""},
		"delay runs":    {state{current: old, next: next, nextTrustedSince: ago(59 * time.Second)}, trustComplete, "", ""},
		"delay over":    {state{current: old, next: next, nextTrustedSince: ago(time.Minute)}, trustComplete, "promoted the next CA", "next - old promoted"},
		"delay over, one still leaving": {
			state{current: old, next: next, previous: young, promotedAt: ago(day), nextTrustedSince: ago(time.Hour)},
			trustComplete, "", "",
		},
		"leaves may be valid":   {state{current: young, previous: old, promotedAt: ago(7 * day)}, trustUnknown, "", ""},
		"leaves are gone":       {state{current: young, previous: old, promotedAt: ago(7*day + time.Second)}, trustUnknown, "dropped the previous", "young - -"},
		"previous expired":      {state{current: young, previous: expired, promotedAt: ago(time.Hour)}, trustUnknown, "dropped the previous", "young - -"},
		"promotion's time lost": {state{current: young, previous: old}, trustUnknown, "stamped", "young - old promoted"},
		"expired":               {state{current: expired}, trustUnknown, "replaced the CA at once", "made - -"},
		"expired with a next":   {state{current: expired, next: next}, trustMissing, "promoted the next CA at once", "next - - promoted"},
		"next expired":          {state{current: old, next: expired, nextTrustedSince: ago(time.Hour)}, trustComplete, "dropped the next", "old - -"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			after, step, err := paperPolicy().advance(tt.state, epoch, tt.trusted)
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
	for _, c := range []*ca{s.current, s.next, s.previous} {
		if c == nil {
			words = append(words, "-")
		} else {
			words = append(words, names[c.cert.SerialNumber.Int64()])
		}
	}
	for _, flag := range []struct {
		set  bool
		word string
	}{{!s.nextTrustedSince.IsZero(), "trusted"}, {!s.promotedAt.IsZero(), "promoted"}, {s.force, "forced"}} {
		if flag.set {
			words = append(words, flag.word)
		}
	}
	return strings.Join(words, " ")
}

func TestThePreviousCAHasNoKey(t *testing.T) {
	current, next := realCA(t, epoch, day), realCA(t, epoch, day)
	after, _, err := paperPolicy().advance(state{current: current, next: next, nextTrustedSince: epoch}, epoch.Add(time.Hour), trustComplete)
	if err != nil || !after.previous.is(current) || after.previous.key != nil || after.current != next {
		t.Errorf("%v, %v", after.describe(), err)
	}
}

func TestAdvanceReportsThatNoCAWasMade(t *testing.T) {
	p := policy{makeCA: func(time.Time) (*ca, error) { return nil, errors.New("no entropy") }}
	if _, _, err := p.advance(state{}, epoch, trustUnknown); err == nil {
		t.Error("no error")
	}
}

func TestStampNeverCutsADelayShort(t *testing.T) {
	if got := stamp(epoch.Add(time.Nanosecond)); !got.Equal(epoch.Add(time.Second)) {
		t.Errorf("got %s", got)
	}
	if got := stamp(epoch); !got.Equal(epoch) {
		t.Errorf("got %s", got)
	}
}

// walk follows a state over time and keeps the history that the invariants need.
type walk struct {
	*testing.T
	policy       policy
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
	for _, c := range []*ca{w.state.current, w.state.next, w.state.previous} {
		if c != nil && !c.expired(w.now) {
			certs[c.cert] = true
		}
	}
	return certs
}

func (w *walk) step(d time.Duration, trusted trust, force bool) {
	w.Helper()
	w.now = w.now.Add(d)
	w.state.force = w.state.force || force
	if next := w.state.next; next != nil {
		if trusted == trustMissing {
			delete(w.trustedSince, next.cert)
		} else if _, since := w.trustedSince[next.cert]; trusted == trustComplete && !since {
			w.trustedSince[next.cert] = w.now
		}
	}
	before := w.state
	after, _, err := w.policy.advance(before, w.now, trusted)
	if err != nil {
		w.Fatal(err)
	}
	w.state = after
	w.checkPromotion(before)
	w.checkBundle()
	// Every replica may sign a leaf now.
	expires := earlier(w.now.Add(w.policy.leafLifetime), after.current.cert.NotAfter)
	w.lastLeaf[after.current.cert] = expires
}

func (w *walk) checkPromotion(before state) {
	w.Helper()
	if before.current == nil || before.current.is(w.state.current) || before.current.expired(w.now) {
		return // nothing that clients trusted was replaced
	}
	w.promotions++
	cert := w.state.current.cert
	if since, ok := w.inBundle[cert]; !ok || w.now.Sub(since) < w.policy.trustDelay {
		w.Fatalf("%s: promoted a CA that is in the bundle since %s", w.now, since)
	}
	if since, ok := w.trustedSince[cert]; !ok || w.now.Sub(since) < w.policy.trustDelay {
		w.Fatalf("%s: promoted a CA that is trusted since %s", w.now, since)
	}
	if w.state.previous == nil {
		w.Fatalf("%s: the former CA was not kept", w.now)
	}
}

func (w *walk) checkBundle() {
	w.Helper()
	bundle := w.bundle()
	if !bundle[w.state.current.cert] {
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
			w.step(stride, trust(random.IntN(3)), random.IntN(200) == 0)
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
			w.step(time.Duration(random.Int64N(int64(day))), trust(random.IntN(3)), false)
		}
		w.promotions = 0
		for range 70 * 24 {
			w.step(time.Hour, trustComplete, false)
		}
		if w.promotions == 0 {
			t.Fatalf("seed %d: no rotation in longer than a CA's life", seed)
		}
		// The steps take an hour each here, four of them a rotation.
		if left := w.state.current.cert.NotAfter.Sub(w.now); left < 60*day/3-5*time.Hour {
			t.Fatalf("seed %d: the CA has %s left", seed, left)
		}
	}
}
