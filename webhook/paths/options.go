// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Defaults of Options.
const (
	DefaultLifetime = 24 * time.Hour
	DefaultDelay    = 5 * time.Minute
	DefaultInterval = 10 * time.Second
)

// Options configure a Keeper.
type Options struct {
	// Client reads and writes the Secret (get, create, update), without a cache: a stale read would undo what another
	// replica did.
	Client client.Client
	// Secret holds the keys.
	Secret types.NamespacedName
	// Plain are the paths of all webhooks, without secrets. What follows is kept in the Secret for those who register the
	// webhooks themselves.
	Plain []string
	// Lifetime is the age at which a key is replaced, a day by default.
	Lifetime time.Duration
	// Delay is how long API servers get to observe changed webhook configurations, five minutes by default, and replicas to
	// read a new key.
	Delay time.Duration
	// Interval is the time between reads of the Secret, 10 seconds by default.
	Interval time.Duration
	// Carried says whether every webhook configuration has the paths that path returns. It must not call Ensure. Nil if that
	// cannot be known, because somebody else registers the webhooks: then keys are replaced on request only, and the
	// previous one is accepted until it is removed from the Secret.
	Carried func(ctx context.Context, path func(plain string) string) (bool, error)
	// Clock is the real clock by default.
	Clock clock.Clock
	// Log gets the steps of rotations.
	Log logr.Logger
}

func (o *Options) complete() error {
	if o.Client == nil || o.Secret.Name == "" || o.Secret.Namespace == "" {
		return errors.New("the paths of webhooks need a client, and the namespace and name of a Secret")
	}
	if o.Lifetime < 0 || o.Delay < 0 || o.Interval < 0 {
		return errors.New("the paths of webhooks: lifetime, delay and interval must not be negative")
	}
	o.Lifetime = cmp.Or(o.Lifetime, DefaultLifetime)
	o.Delay = cmp.Or(o.Delay, DefaultDelay)
	o.Interval = cmp.Or(o.Interval, DefaultInterval)
	if o.Lifetime < 2*o.Delay {
		return errors.New("the paths of webhooks: the lifetime must leave room for twice the delay")
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return nil
}

// learning is how long replicas get to read a new key.
func (o *Options) learning() time.Duration { return max(o.Delay, 2*o.Interval) }
