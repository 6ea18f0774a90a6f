// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Defaults of Store.
const (
	DefaultDelay    = 5 * time.Minute
	DefaultInterval = 10 * time.Second
)

// Store is where a Keeper keeps its state, and when.
type Store struct {
	// Client reads and writes the Secret (get, create, update), without a cache: a stale read would undo another replica's write.
	Client client.Client
	// Secret holds the state.
	Secret types.NamespacedName
	// Delay is how long API servers get to observe changed webhook configurations, five minutes by default: the watch of one that could
	// not reach its storage for a while is retried after up to a minute.
	Delay time.Duration
	// Interval is the longest time between reads of the Secret, 10 seconds by default.
	Interval time.Duration
	// Clock is the real clock by default.
	Clock clock.Clock
	// Registerer registers the metrics. Nil: none.
	Registerer prometheus.Registerer
	// Log gets the steps of rotations.
	Log logr.Logger
}

// Complete sets the defaults and returns the first mistake. what is the name of the state in errors.
func (s *Store) Complete(what string) error {
	if s.Client == nil || s.Secret.Name == "" || s.Secret.Namespace == "" {
		return fmt.Errorf("%s: a client, and the namespace and name of a Secret, are needed", what)
	}
	if s.Delay < 0 || s.Interval < 0 {
		return fmt.Errorf("%s: delay and interval must not be negative", what)
	}
	s.Delay = cmp.Or(s.Delay, DefaultDelay)
	s.Interval = cmp.Or(s.Interval, DefaultInterval)
	if s.Clock == nil {
		s.Clock = clock.RealClock{}
	}
	return nil
}

// Options configure a Keeper.
type Options[T any] struct {
	Store
	Policy Policy[T]
	// Annotations hold the times of the state.
	Annotations Annotations
	// What: the name of the state in logs. Item: the name of an item of the state in logs, errors and metrics.
	What, Item string
	// Extra writes additional entries of the Secret for the current item. Nil: there are no additional entries.
	Extra func(current *T, data map[string][]byte)
	// Publish is called with each state that was read or written, and whenever the passed time may have changed its consequences. Nil:
	// it is not called.
	Publish func(State[T]) error
	// Registered reports whether every webhook configuration has the item that Policy.Awaits waits for. It must not call Ensure.
	// ErrUnknown means that this replica does not know: the others decide.
	Registered func(context.Context, State[T]) (bool, error)
}

// ErrUnknown is returned by Options.Registered of a replica that does not register webhooks.
var ErrUnknown = errors.New("this replica does not know what is in the webhook configurations")
