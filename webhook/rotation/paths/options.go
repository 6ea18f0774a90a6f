// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// Defaults of Options.
const (
	DefaultLifetime = 24 * time.Hour
	DefaultSpacing  = 30 * time.Minute
)

// Options configure a Keeper.
type Options struct {
	// Store holds the keys. Its Delay is also the time that replicas have to read a new key.
	rotation.Store
	// Plain are the paths of all webhooks, without secrets. The Secret keeps the rest of the paths for operators who register the
	// webhooks themselves.
	Plain []string
	// Lifetime is the age at which a key is replaced, a day by default.
	Lifetime time.Duration
	// Spacing is the least age of a key at which it is replaced because it may have been shown, half an hour by default.
	Spacing time.Duration
	// Carried reports whether every webhook configuration has the paths that path returns. It must not call Ensure. Nil if that cannot
	// be known because an operator registers the webhooks: then keys are replaced on request only, and the previous key is accepted
	// until it is deleted from the Secret.
	Carried func(ctx context.Context, path func(plain string) string) (bool, error)
}

func (o *Options) complete() error {
	if err := o.Complete("the paths of webhooks"); err != nil {
		return err
	}
	if o.Lifetime < 0 || o.Spacing < 0 {
		return errors.New("the paths of webhooks: lifetime and spacing must not be negative")
	}
	o.Lifetime = cmp.Or(o.Lifetime, DefaultLifetime)
	o.Spacing = cmp.Or(o.Spacing, DefaultSpacing)
	if o.Lifetime < 2*o.Delay {
		return errors.New("the paths of webhooks: the lifetime must leave room for twice the delay")
	}
	return nil
}

func (o *Options) policy() rotation.Policy[key] {
	p := rotation.Policy[key]{Phases: rotation.Phases{Delay: o.Delay, Settle: max(o.Delay, 2*o.Interval), Spacing: o.Spacing}}
	if o.Carried == nil {
		p.Kind = kind{}
	} else {
		p.Kind = kind{lifetime: o.Lifetime}
	}
	return p
}
