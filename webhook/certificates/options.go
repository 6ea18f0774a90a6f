// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DefaultTrustDelay is the default of Options.TrustDelay.
const DefaultTrustDelay = 5 * time.Minute

// ErrUnknown is returned by Options.Trusted of a replica that does not register webhooks.
var ErrUnknown = errors.New("this replica does not know what the webhook configurations trust")

// Options configure an Authority.
type Options struct {
	// Client reads and writes the Secret (get, create, update), without a cache: a stale read would undo what another
	// replica did.
	Client client.Client
	// Secret holds the CAs.
	Secret types.NamespacedName
	// Names are the DNS names and IP addresses under which clients reach the replicas.
	Names []string
	// CALifetime is how long a CA is valid, a year by default. The rotation starts after two thirds of it.
	CALifetime time.Duration
	// LeafLifetime is how long a serving certificate is valid: by default 7 days, or a third of a shorter CALifetime.
	LeafLifetime time.Duration
	// TrustDelay is how long API servers get to observe changed webhook configurations, five minutes by default: the watch of
	// one that could not reach its storage for a while is retried after up to a minute.
	TrustDelay time.Duration
	// Interval is the time between reads of the Secret, 10 seconds by default.
	Interval time.Duration
	// Trusted says whether every webhook configuration has bundle. Ensure calls it while a rotation waits for that, so it
	// must not call Ensure. ErrUnknown means that this replica cannot know it: the others decide. Nil means always.
	Trusted func(ctx context.Context, bundle []byte) (bool, error)
	// Clock is the real clock by default.
	Clock clock.WithTicker
	// Registerer registers the expiry metric. Nil: none.
	Registerer prometheus.Registerer
	// Log gets the steps of rotations.
	Log logr.Logger
}

func (o *Options) complete() error {
	if o.Client == nil || o.Secret.Name == "" || o.Secret.Namespace == "" {
		return errors.New("webhook certificates need a client, and the namespace and name of a Secret")
	}
	if len(o.Names) == 0 {
		return errors.New("webhook certificates need the names under which the webhook is reached")
	}
	for _, name := range o.Names {
		if net.ParseIP(name) == nil && len(validation.IsDNS1123Subdomain(name)) > 0 {
			return fmt.Errorf("webhook certificates: %q is neither a DNS name nor an IP address", name)
		}
	}
	for _, value := range []time.Duration{o.CALifetime, o.LeafLifetime, o.TrustDelay, o.Interval} {
		if value < 0 {
			return errors.New("webhook certificates: lifetimes, delay and interval must not be negative")
		}
	}
	o.CALifetime = cmp.Or(o.CALifetime, 365*24*time.Hour)
	o.LeafLifetime = cmp.Or(o.LeafLifetime, min(7*24*time.Hour, o.CALifetime/3))
	o.TrustDelay = cmp.Or(o.TrustDelay, DefaultTrustDelay)
	o.Interval = cmp.Or(o.Interval, 10*time.Second)
	// A rotation waits an Interval for each of its steps, and must end before the current CA expires.
	if o.LeafLifetime > o.CALifetime || o.TrustDelay+4*o.Interval > o.CALifetime/3 {
		return errors.New("webhook certificates: the CA's lifetime must not be shorter than a leaf's, " +
			"and a third of it must leave room for the trust delay and some intervals")
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return nil
}
