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

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

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
	// Trusted reports whether every webhook configuration has bundle. Ensure calls it while a rotation waits for that, so it
	// must not call Ensure. rotation.ErrUnknown means that this replica cannot know it: the others decide. Nil means always.
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
	return rotation.Policy[ca]{Kind: kind{lifetime: o.CALifetime}, Phases: rotation.Phases{Ahead: true, Delay: o.Delay, Settle: o.LeafLifetime}}
}
