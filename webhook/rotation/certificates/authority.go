// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"sync/atomic"
	"time"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// Authority is one replica's view of the CAs that all replicas share, and its own serving certificate. It is safe for concurrent use.
type Authority struct {
	*rotation.Keeper[ca]

	options Options
	changed chan struct{}
	served  atomic.Pointer[served]
}

// served is derived from the state. Leaf and bundle change together, so that the leaf's CA is always in the bundle.
type served struct {
	bundle []byte
	signer *ca
	leaf   *tls.Certificate
}

// New creates an Authority. It has no certificate before the first Ensure.
func New(options Options) (*Authority, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	a := &Authority{options: options, changed: make(chan struct{}, 1)}
	registerExpiry(options.Registerer, a.expiry)
	var err error
	a.Keeper, err = rotation.New(rotation.Options[ca]{
		Store:       options.Store,
		Policy:      options.policy(),
		Annotations: rotation.Annotations{CurrentSince: AnnotationPromotedAt, RegisteredSince: AnnotationNextTrustedSince},
		What:        "Webhook certificates", Item: "CA",
		Publish:    a.publish,
		Registered: a.trusted,
	})
	return a, err
}

// NeedLeaderElection returns false: every replica runs this.
func (*Authority) NeedLeaderElection() bool { return false }

// GetCertificate implements tls.Config.GetCertificate.
func (a *Authority) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now := a.served.Load()
	if now == nil {
		return nil, errors.New("the webhook has no certificate yet")
	}
	return now.leaf, nil
}

// Bundle is the PEM of the CAs that clients must trust, nil before the first Ensure. Call Ensure just before writing it
// into a webhook configuration: a replica whose state is old would otherwise remove a newer CA.
func (a *Authority) Bundle() []byte {
	now := a.served.Load()
	if now == nil {
		return nil
	}
	return bytes.Clone(now.bundle)
}

// Changed receives a value when the Bundle changed. Several changes may be coalesced. It is for one receiver.
func (a *Authority) Changed() <-chan struct{} { return a.changed }

// trusted reports whether every webhook configuration has the bundle with the next CA.
func (a *Authority) trusted(ctx context.Context, s state) (bool, error) {
	if a.options.Trusted == nil {
		return true, nil
	}
	bundle, err := bundleOf(s, a.options.Clock.Now())
	if err != nil {
		return false, err
	}
	return a.options.Trusted(ctx, bundle)
}

// publish updates bundle and leaf by the state and the time. The leaf is renewed when the CA changed or two thirds of the leaf's life are
// over.
func (a *Authority) publish(s state) error {
	now, before := a.options.Clock.Now(), a.served.Load()
	bundle, err := bundleOf(s, now)
	if err != nil {
		return err
	}
	after := &served{bundle: bundle, signer: s.Current}
	if before != nil && before.signer.is(s.Current) && !renewable(before.leaf, s.Current, now) {
		after.leaf = before.leaf
	} else if after.leaf, err = s.Current.sign(now, a.options.LeafLifetime, a.options.Names); err != nil {
		return err
	}
	a.served.Store(after)
	if before == nil || !bytes.Equal(before.bundle, after.bundle) {
		select {
		case a.changed <- struct{}{}:
		default:
		}
	}
	return nil
}

// renewable reports whether a leaf is due and a new one would last longer.
func renewable(leaf *tls.Certificate, signer *ca, now time.Time) bool {
	return due(leaf.Leaf, now) && leaf.Leaf.NotAfter.Before(signer.cert.NotAfter)
}

// expiry returns the values of the expiry metric.
func (a *Authority) expiry() map[string]time.Time {
	now := a.served.Load()
	if now == nil {
		return nil
	}
	return map[string]time.Time{"serving": now.leaf.Leaf.NotAfter, "ca": now.signer.cert.NotAfter}
}
