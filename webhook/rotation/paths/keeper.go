// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

// Keeper is one replica's view of the keys that all replicas share. It is safe for concurrent use.
type Keeper struct {
	*rotation.Keeper[key]

	options   Options
	exposures *prometheus.CounterVec
}

// New creates a Keeper. It accepts no path before the first Ensure.
func New(options Options) (*Keeper, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	k := &Keeper{options: options, exposures: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karmada_compute_webhook_path_exposures_total",
		Help: "Events after which an API server may have shown a webhook's secret path in an error, by cause: start (of a " +
			"replica while no other one answered), left (a caller left before its answer), handshake (with a caller, which failed).",
	}, []string{"cause"})}
	for _, cause := range []string{CauseStart, CauseLeft, CauseHandshake} {
		k.exposures.WithLabelValues(cause)
	}
	if options.Registerer != nil {
		options.Registerer.MustRegister(k.exposures)
	}
	var err error
	k.Keeper, err = rotation.New(rotation.Options[key]{
		Store:  options.Store,
		Policy: options.policy(),
		Annotations: rotation.Annotations{
			CurrentSince: AnnotationCurrentSince, NextSince: AnnotationNextSince, RegisteredSince: AnnotationCarriedSince,
		},
		What: "Paths of webhooks", Item: "key",
		Extra:      k.secrets,
		Registered: k.carried,
	})
	return k, err
}

// The causes of exposures.
const (
	// CauseStart: a replica starts while no other one answers. Callers have seen refused connections before.
	CauseStart = "start"
	// CauseLeft: a caller has left before its answer.
	CauseLeft = "left"
	// CauseHandshake: a handshake with a caller has failed.
	CauseHandshake = "handshake"
)

// Expose reports that an API server may have shown the path. The replica that reads the Secret first replaces the key
// when it is Options.Spacing old, unless a rotation is in progress. Expose does not wait for that.
func (k *Keeper) Expose(cause string) {
	k.exposures.WithLabelValues(cause).Inc()
	if k.options.Carried == nil {
		k.options.Log.V(1).Info("An API server may have shown the path of a webhook, which this process does not register: request a rotation",
			"cause", cause)
		return
	}
	k.Keeper.Expose(cause)
}

// Ready returns an error while there is no key.
func (k *Keeper) Ready() error {
	if k.State().Current == nil {
		return fmt.Errorf("the paths of webhooks are not known yet: Secret %s of the hub was not read", k.options.Secret)
	}
	return nil
}

// Accepts reports whether secret may follow the plain path of a webhook.
func (k *Keeper) Accepts(plain, secret string) bool { return accepts(k.State(), plain, secret) }

// Path is the path at which the webhook with a plain path is called: "" before the first Ensure. Call Ensure just
// before writing the path into a webhook configuration: a replica with an old state would otherwise restore an older
// path.
func (k *Keeper) Path(plain string) string {
	current := k.State().Current
	if current == nil {
		return ""
	}
	return current.path(plain)
}

// secrets writes the secrets of the plain paths.
func (k *Keeper) secrets(current *key, data map[string][]byte) {
	for _, plain := range k.options.Plain {
		data[strings.TrimPrefix(plain, "/")] = []byte(current.secret(plain))
	}
}

// carried reports whether every webhook configuration has the paths of the current key.
func (k *Keeper) carried(ctx context.Context, s state) (bool, error) {
	if k.options.Carried == nil {
		return false, rotation.ErrUnknown
	}
	return k.options.Carried(ctx, s.Current.path)
}

// Defaults of Options.
const (
	DefaultLifetime = 24 * time.Hour
	DefaultSpacing  = 30 * time.Minute
)

// Options configure a Keeper.
type Options struct {
	// Store holds the keys. Its Delay is also the time that replicas have to read a new key.
	rotation.Store
	// Plain are the paths of all webhooks, without secrets. The Secret keeps the rest of the paths for operators who
	// register the webhooks themselves.
	Plain []string
	// Lifetime is the age at which a key is replaced, a day by default.
	Lifetime time.Duration
	// Spacing is the least age of a key at which it is replaced because it may have been shown, half an hour by default.
	Spacing time.Duration
	// Carried reports whether every webhook configuration has the paths that path returns. It must not call Ensure. Nil if
	// that cannot be known because an operator registers the webhooks: then keys are replaced on request only, and the
	// previous key is accepted until it is deleted from the Secret.
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
