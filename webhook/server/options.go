// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// Options configure the serving of webhooks.
type Options struct {
	// BindAddress and Port are the address that webhooks are served at.
	BindAddress string
	Port        int
	// ClientCAFile is the bundle that callers' certificates are verified against. Empty: callers of plain paths need
	// tokens.
	ClientCAFile string
	// AllowedGroups may call every webhook; other callers are authorized by the delegate.
	AllowedGroups []string
	// Delegate is the API server that gets TokenReviews and SubjectAccessReviews about callers.
	Delegate *rest.Config
	// ShutdownDelay is how long requests are served after the shutdown began.
	ShutdownDelay time.Duration
	// Metrics and Health are addresses; 0 serves none.
	Metrics string
	Health  string
	// MetricsCertDir has tls.crt and tls.key for the metrics. Empty: the webhooks' certificate.
	MetricsCertDir string
	// MetricsHandlers are served beside the metrics, by path, to callers that are authorized for the path.
	MetricsHandlers map[string]http.Handler
}

// AddFlags adds the flags that concern webhooks.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.BindAddress, "webhook-bind-address", "", "Address that webhooks are served on. Default: all interfaces.")
	flags.IntVar(&o.Port, "webhook-port", 9443, "Port that webhooks are served on.")
	flags.StringVar(&o.ClientCAFile, "client-ca-file", "",
		"Bundle of CAs whose client certificates authenticate callers of metrics, and of webhooks at paths without a secret. "+
			"The file is reloaded when it changes. Without the flag these callers need a token.")
	flags.StringSliceVar(&o.AllowedGroups, "authorization-always-allow-groups", []string{"system:masters"},
		"Groups of authenticated callers that are authorized without a SubjectAccessReview. Callers in other groups need a "+
			"role on the hub for the path.")
	flags.DurationVar(&o.ShutdownDelay, "shutdown-delay-duration", 10*time.Second,
		"How long requests are served after SIGTERM. The time must suffice to update the endpoints and to move callers to other replicas.")
}

// Complete returns every mistake.
func (o *Options) Complete() error {
	var mistakes []error
	if o.Port < 1 || o.Port > 65535 {
		mistakes = append(mistakes, fmt.Errorf("--webhook-port: %d is not a port from 1 to 65535", o.Port))
	}
	if o.ShutdownDelay < 0 {
		mistakes = append(mistakes, fmt.Errorf("--shutdown-delay-duration: %s is negative", o.ShutdownDelay))
	}
	if o.Delegate == nil {
		mistakes = append(mistakes, errors.New("no API server for the authentication and authorization of callers is given"))
	}
	return errors.Join(mistakes...)
}

func (o *Options) address() string { return net.JoinHostPort(o.BindAddress, strconv.Itoa(o.Port)) }
