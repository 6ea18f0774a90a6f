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
)

func realCA(t *testing.T, now time.Time, life time.Duration) *ca {
	t.Helper()
	c, err := newCA(now, life)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func encoded(t *testing.T, s state) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "webhook-ca"}}
	if err := encode(s, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestSecretHoldsTheWholeState(t *testing.T) {
	current, next, previous := realCA(t, epoch, day), realCA(t, epoch, day), realCA(t, epoch, day)
	want := state{
		current: current, next: next, previous: &ca{cert: previous.cert},
		nextTrustedSince: epoch.Add(time.Hour), promotedAt: epoch, force: true,
	}
	secret := encoded(t, want)
	secret.Annotations[AnnotationRotate] = "" // an operator's; ours is to remove it alone
	got, err := decode(secret)
	if err != nil {
		t.Fatal(err)
	}
	if !got.current.is(current) || !got.next.is(next) || !got.previous.is(previous) {
		t.Errorf("other CAs came back: %v", got.describe())
	}
	if got.current.key == nil || got.next.key == nil || got.previous.key != nil {
		t.Error("current and next need their keys, previous must have none")
	}
	if !got.nextTrustedSince.Equal(want.nextTrustedSince) || !got.promotedAt.Equal(want.promotedAt) || !got.force {
		t.Errorf("got %v", got)
	}
}

func TestSecretLosesWhatTheStateLost(t *testing.T) {
	c := realCA(t, epoch, day)
	secret := encoded(t, state{current: c, next: c, previous: c, nextTrustedSince: epoch, promotedAt: epoch})
	secret.Data["other"], secret.Annotations["other"] = []byte("stays"), "stays"
	secret.Annotations[AnnotationRotate] = "now"
	if err := encode(state{current: c}, secret); err != nil {
		t.Fatal(err)
	}
	if len(secret.Data) != 3 || len(secret.Data["current.key"]) == 0 || string(secret.Data["other"]) != "stays" {
		t.Errorf("data has %d entries", len(secret.Data))
	}
	if len(secret.Annotations) != 1 || secret.Annotations["other"] != "stays" {
		t.Errorf("annotations: %v", secret.Annotations)
	}
}

func TestCorruptSecretIsReportedWithoutItsContent(t *testing.T) {
	full := func() map[string][]byte {
		return encoded(t, state{
			current: realCA(t, epoch, day), next: realCA(t, epoch, day), previous: realCA(t, epoch, day),
		}).Data
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
		}, "current.crt"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			data := full()
			tt.damage(data)
			_, err := decode(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "webhook-ca"}, Data: data})
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

func TestLostTimestampsCountAsLost(t *testing.T) {
	c := realCA(t, epoch, day)
	secret := encoded(t, state{current: c, previous: c, promotedAt: epoch})
	secret.Annotations[AnnotationPromotedAt] = "last Tuesday"
	s, err := decode(secret)
	if err != nil || !s.promotedAt.IsZero() {
		t.Errorf("got %v, %v", s, err)
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
		content, err := s.bundle(epoch.Add(at))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	onlyCurrent, onlyNext := bundle(state{current: current}, 0), bundle(state{current: next}, 0)
	both := state{current: current, next: next}
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
