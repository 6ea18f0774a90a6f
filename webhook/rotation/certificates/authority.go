// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// Authority is one replica's view of the CAs that all replicas share, and its own serving certificate. It is safe for
// concurrent use.
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

// publish updates bundle and leaf by the state and the time. The leaf is renewed when the CA changed or two thirds of
// the leaf's life are over.
func (a *Authority) publish(s state) error {
	now, before := a.options.Clock.Now(), a.served.Load()
	bundle, err := bundleOf(s, now)
	if err != nil {
		return err
	}
	after := &served{bundle: bundle, signer: s.Current}
	if before != nil && before.signer.equals(s.Current) && !renewable(before.leaf, s.Current, now) {
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

// expiryCollector reads the certificates when it is scraped, so that it reports nothing without certificates: a zero
// would mean a certificate that expired long ago.
type expiryCollector struct {
	expiry func() map[string]time.Time
	desc   *prometheus.Desc
}

func registerExpiry(registerer prometheus.Registerer, expiry func() map[string]time.Time) {
	if registerer == nil {
		return
	}
	registerer.MustRegister(&expiryCollector{expiry: expiry, desc: prometheus.NewDesc(
		"karmada_compute_webhook_certificate_expiry_timestamp_seconds",
		"When the webhook's certificate expires: the one it serves with, and the CA that signed it if that is its own.",
		[]string{"certificate"}, nil,
	)})
}

// Describe implements prometheus.Collector.
func (c *expiryCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect implements prometheus.Collector.
func (c *expiryCollector) Collect(metrics chan<- prometheus.Metric) {
	for certificate, at := range c.expiry() {
		metrics <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(at.Unix()), certificate)
	}
}

// Options configure an Authority.
type Options struct {
	// Store holds the CAs.
	rotation.Store
	// Names are the DNS names and IP addresses under which clients reach the replicas.
	Names []string
	// CALifetime is how long a CA is valid, a year by default. The rotation starts after two thirds of it.
	CALifetime time.Duration
	// LeafLifetime is how long a serving certificate is valid: by default 7 days, or a third of a shorter CALifetime.
	LeafLifetime time.Duration
	// Trusted reports whether every webhook configuration has bundle. Ensure calls it while a rotation waits for that, so
	// it must not call Ensure. rotation.ErrUnknown means that this replica cannot know it: the others decide. Nil means
	// always.
	Trusted func(ctx context.Context, bundle []byte) (bool, error)
}

func (o *Options) complete() error {
	if err := o.Complete("webhook certificates"); err != nil {
		return err
	}
	if len(o.Names) == 0 {
		return errors.New("webhook certificates need the names under which the webhook is reached")
	}
	for _, name := range o.Names {
		if net.ParseIP(name) == nil && len(validation.IsDNS1123Subdomain(name)) > 0 {
			return fmt.Errorf("webhook certificates: %q is neither a DNS name nor an IP address", name)
		}
	}
	if o.CALifetime < 0 || o.LeafLifetime < 0 {
		return errors.New("webhook certificates: lifetimes must not be negative")
	}
	o.CALifetime = cmp.Or(o.CALifetime, 365*24*time.Hour)
	o.LeafLifetime = cmp.Or(o.LeafLifetime, min(7*24*time.Hour, o.CALifetime/3))
	// A rotation waits an Interval for each of its steps, and must end before the current CA expires.
	if o.LeafLifetime > o.CALifetime || o.Delay+4*o.Interval > o.CALifetime/3 {
		return errors.New("webhook certificates: the CA's lifetime must not be shorter than a leaf's, " +
			"and a third of it must leave room for the trust delay and some intervals")
	}
	return nil
}

// policy keeps the previous CA as long as a leaf of it may be valid.
func (o *Options) policy() rotation.Policy[ca] {
	return rotation.Policy[ca]{
		Kind: kind{lifetime: o.CALifetime}, Phases: rotation.Phases{Ahead: true, Delay: o.Delay, Settle: o.LeafLifetime},
	}
}
