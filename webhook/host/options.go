// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// Options say how a host serves.
type Options struct {
	// BindAddress and Port are where webhooks are served.
	BindAddress string
	Port        int
	// ClientCAFile is the bundle that callers' certificates are verified against. Empty: callers need tokens.
	ClientCAFile string
	// AllowedGroups may call every webhook; others are looked up with the delegate.
	AllowedGroups []string
	// Unauthenticated are webhooks that anybody may call, by name.
	Unauthenticated []string
	// Delegate is asked about tokens and permissions of callers.
	Delegate *rest.Config
	// ShutdownDelay is how long requests are still served after the end was asked for.
	ShutdownDelay time.Duration
	// Metrics and Health are addresses; 0 serves none.
	Metrics string
	Health  string
}

// AddFlags adds the flags, with defaults as they are set.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.BindAddress, "webhook-bind-address", "", "Address that webhooks are served on. Default: all.")
	flags.IntVar(&o.Port, "webhook-port", 9443, "Port that webhooks are served on.")
	flags.StringVar(&o.ClientCAFile, "client-ca-file", "", "Bundle of CAs whose client certificates authenticate callers of webhooks and metrics. It is read again when it changes. Without it callers need a token.")
	flags.StringSliceVar(&o.AllowedGroups, "authorization-always-allow-groups", []string{"system:masters"}, "Groups of callers that are authorized without asking. Others need a role on the hub for the path.")
	flags.StringSliceVar(&o.Unauthenticated, "unauthenticated-webhooks", []string{"interpreter"}, "Webhooks that anybody may call, by name. Karmada cannot authenticate to interpreter webhooks.")
	flags.DurationVar(&o.ShutdownDelay, "shutdown-delay-duration", 10*time.Second, "How long requests are still served after SIGTERM, while callers learn that this replica is going. Longer than Services take to follow.")
	flags.StringVar(&o.Metrics, "metrics-bind-address", "0", "Address for /metrics, over TLS and for callers that may get it. 0: none.")
	flags.StringVar(&o.Health, "health-probe-bind-address", ":8081", "Address for /healthz and /readyz, without TLS. 0: none.")
}

// Complete returns every mistake.
func (o *Options) Complete() error {
	var mistakes []error
	if o.Port < 1 || o.Port > 65535 {
		mistakes = append(mistakes, fmt.Errorf("--webhook-port: %d is no port, name one of 1 to 65535", o.Port))
	}
	if o.ShutdownDelay < 0 {
		mistakes = append(mistakes, fmt.Errorf("--shutdown-delay-duration: %s is negative", o.ShutdownDelay))
	}
	if o.Delegate == nil {
		mistakes = append(mistakes, errors.New("there is nobody to ask about callers"))
	}
	return errors.Join(mistakes...)
}

func (o *Options) address() string { return net.JoinHostPort(o.BindAddress, strconv.Itoa(o.Port)) }
