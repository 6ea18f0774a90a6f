// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// Files serves a certificate from files that for example cert-manager writes, and reloads them when they change.
type Files struct {
	watcher *certwatcher.CertWatcher
}

// NewFiles reads the files, and returns an error if they are invalid. A nil registerer means no metric.
func NewFiles(certFile, keyFile string, registerer prometheus.Registerer) (*Files, error) {
	watcher, err := certwatcher.New(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("webhook certificate %s with key %s: %w", certFile, keyFile, err)
	}
	f := &Files{watcher: watcher}
	registerExpiry(registerer, f.expiry)
	return f, nil
}

// Start watches the files until ctx ends.
func (f *Files) Start(ctx context.Context) error {
	if err := f.watcher.Start(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("watch the webhook's certificate files: %w", err)
	}
	return nil
}

// NeedLeaderElection returns false: every replica runs this.
func (*Files) NeedLeaderElection() bool { return false }

// GetCertificate implements tls.Config.GetCertificate.
func (f *Files) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.watcher.GetCertificate(hello)
}

func (f *Files) expiry() map[string]time.Time {
	now, err := f.watcher.GetCertificate(nil)
	if err != nil || now == nil || now.Leaf == nil {
		return nil
	}
	return map[string]time.Time{"serving": now.Leaf.NotAfter}
}
