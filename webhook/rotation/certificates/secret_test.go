// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

func realCA(t *testing.T, now time.Time, life time.Duration) *ca {
	t.Helper()
	c, err := newCA(now, life)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// encoded are the entries of a state.
func encoded(t *testing.T, s state) map[string][]byte {
	t.Helper()
	data := map[string][]byte{}
	for role, c := range map[rotation.Role]*ca{rotation.Current: s.Current, rotation.Next: s.Next, rotation.Previous: s.Previous} {
		if err := (kind{}).Encode(c, data, role); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

func TestEntriesHoldTheCAs(t *testing.T) {
	current, next, previous := realCA(t, epoch, day), realCA(t, epoch, day), realCA(t, epoch, day)
	data := encoded(t, state{Current: current, Next: next, Previous: kind{}.Former(previous)})
	for role, want := range map[rotation.Role]*ca{rotation.Current: current, rotation.Next: next, rotation.Previous: previous} {
		got, err := kind{}.Decode(data, role)
		if err != nil || !got.equals(want) || (got.key == nil) != (role == rotation.Previous) {
			t.Errorf("%s: another CA is read, or its key is wrong: %v", role, err)
		}
	}
}

func TestEntriesLoseWhatTheStateLost(t *testing.T) {
	c := realCA(t, epoch, day)
	data := encoded(t, state{Current: c, Next: c, Previous: c})
	data["other"] = []byte("stays")
	for _, role := range []rotation.Role{rotation.Next, rotation.Previous} {
		if err := (kind{}).Encode(nil, data, role); err != nil {
			t.Fatal(err)
		}
	}
	if len(data) != 3 || len(data["current.key"]) == 0 || string(data["other"]) != "stays" {
		t.Errorf("data has %d entries", len(data))
	}
}

func TestCorruptSecretIsReportedWithoutItsContent(t *testing.T) {
	full := func() map[string][]byte {
		return encoded(t, state{
			Current: realCA(t, epoch, day), Next: realCA(t, epoch, day), Previous: realCA(t, epoch, day),
		})
	}
	leaf, err := realCA(t, epoch, day).sign(epoch, time.Hour, []string{"webhook"})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		damage func(data map[string][]byte)
		says   string
	}{
		"no PEM":             {func(d map[string][]byte) { d["current.crt"] = []byte("rubbish") }, "current.crt"},
		"half a PEM":         {func(d map[string][]byte) { d["next.crt"] = d["next.crt"][:90] }, "next.crt"},
		"broken key":         {func(d map[string][]byte) { d["current.key"] = d["current.key"][:90] }, "current.key"},
		"no key":             {func(d map[string][]byte) { delete(d, "current.key") }, "current.key"},
		"no certificate":     {func(d map[string][]byte) { delete(d, "next.crt") }, "next.crt"},
		"another's key":      {func(d map[string][]byte) { d["current.key"] = d["next.key"] }, "current.key is not the key"},
		"key as certificate": {func(d map[string][]byte) { d["previous.crt"] = d["next.key"] }, "previous.crt"},
		"two certificates": {func(d map[string][]byte) {
			d["previous.crt"] = append(d["previous.crt"], d["next.crt"]...)
		}, "previous.crt"},
		"not a CA": {func(d map[string][]byte) { d["previous.crt"] = pemOf(leaf.Certificate[0]) }, "previous.crt"},
		"no current": {func(d map[string][]byte) {
			delete(d, "current.crt")
			delete(d, "current.key")
		}, "current CA"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			data := full()
			tt.damage(data)
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "webhook-ca"}, Data: data}
			err := newAuthority(t, fake.NewFakeClient(secret), testclock.NewFakeClock(epoch)).Ensure(t.Context())
			if err == nil {
				t.Fatal("no error")
			}
			for _, words := range []string{"Secret system/webhook-ca", "delete it", tt.says} {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q does not say %q", err, words)
				}
			}
			mustHideKeys(t, err.Error(), data)
		})
	}
}

// mustHideKeys fails if a text has a line of a key.
func mustHideKeys(t *testing.T, text string, data map[string][]byte) {
	t.Helper()
	for name, content := range data {
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); strings.HasSuffix(name, ".key") && line != "" && strings.Contains(text, line) {
				t.Errorf("%s is quoted in %q", name, text)
			}
		}
	}
}

func TestBundleIsStableAndNeverEmpty(t *testing.T) {
	current, err := newCA(epoch, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	next, err := newCA(epoch, 2*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	bundle := func(s state, at time.Duration) []byte {
		t.Helper()
		content, err := bundleOf(s, epoch.Add(at))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	onlyCurrent, onlyNext := bundle(state{Current: current}, 0), bundle(state{Current: next}, 0)
	both := state{Current: current, Next: next}
	if got := bundle(both, 0); !bytes.Equal(got, append(bytes.Clone(onlyCurrent), onlyNext...)) {
		t.Errorf("current and next are not in order:\n%s", got)
	}
	if got := bundle(both, 90*time.Minute); !bytes.Equal(got, onlyNext) {
		t.Errorf("what expired is still there:\n%s", got)
	}
	if got := bundle(both, 3*time.Hour); !bytes.Equal(got, onlyCurrent) {
		t.Errorf("when all expired, the current CA stays: API servers take an empty caBundle for the public CAs:\n%s", got)
	}
	if got := bundle(state{}, 0); len(got) != 0 {
		t.Errorf("a bundle of nothing: %s", got)
	}
}
