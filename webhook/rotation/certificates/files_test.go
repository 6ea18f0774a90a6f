// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/keyutil"
)

// writePair changes both files, as when cert-manager renews a certificate.
func writePair(t *testing.T, certFile, keyFile string, pair *tls.Certificate) {
	t.Helper()
	key, err := keyutil.MarshalPrivateKeyToPEM(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{certFile: pemOf(pair.Certificate[0]), keyFile: key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesAreFollowed(t *testing.T) {
	certFile, keyFile := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	now := time.Now().Truncate(time.Second)
	authority := realCA(t, now, 60*day)
	pair := func(life time.Duration) *tls.Certificate {
		t.Helper()
		leaf, err := authority.sign(now, life, []string{host})
		if err != nil {
			t.Fatal(err)
		}
		return leaf
	}
	writePair(t, certFile, keyFile, pair(day))
	registry := prometheus.NewPedanticRegistry()
	f, err := NewFiles(certFile, keyFile, registry)
	if err != nil {
		t.Fatal(err)
	}
	if f.NeedLeaderElection() {
		t.Error("every replica must run it")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Start(ctx) }()
	until := func(at time.Time) func() bool {
		return func() bool {
			cert, err := f.GetCertificate(nil)
			got := expiries(t, registry)
			return err == nil && cert.Leaf.NotAfter.Equal(at) && len(got) == 1 && got["serving"].Equal(at)
		}
	}
	eventually(t, until(now.Add(day)))
	next, served := pair(9*day), until(now.Add(9*day))
	eventually(t, func() bool {
		// Written repeatedly, because a change before the watch begins is found only by the resync after 10 s.
		writePair(t, certFile, keyFile, next)
		return served()
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFilesThatCannotBeServedAreRefused(t *testing.T) {
	certFile, keyFile := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	_, err := NewFiles(certFile, keyFile, nil)
	if err == nil || !strings.Contains(err.Error(), certFile) {
		t.Errorf("got %v", err)
	}
}
