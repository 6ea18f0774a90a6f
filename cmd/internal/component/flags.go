// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// Endpoints are the endpoints of a component for its operators.
type Endpoints struct {
	// Metrics and Health are addresses; 0 serves none.
	Metrics string
	Health  string
	// MetricsCertDir has tls.crt and tls.key for the metrics.
	MetricsCertDir string
	// Profiling serves profiles beside the metrics.
	Profiling bool
}

// AddFlags adds the flags. certificate describes the certificate for metrics if --metrics-cert-dir is not set.
func (e *Endpoints) AddFlags(flags *pflag.FlagSet, certificate string) {
	flags.StringVar(&e.Metrics, "metrics-bind-address", ":8080",
		"Address for /metrics, served over TLS to callers that may get this nonResourceURL. 0: none.")
	flags.StringVar(&e.MetricsCertDir, "metrics-cert-dir", "",
		"Folder with tls.crt and tls.key for /metrics. The files are reloaded when they change. Default: "+certificate+".")
	flags.StringVar(&e.Health, "health-probe-bind-address", ":8081", "Address for /healthz and /readyz, without TLS. 0: none.")
	flags.BoolVar(&e.Profiling, "profiling", false,
		"Serve profiles at /debug/pprof/ of --metrics-bind-address, to callers that may get these nonResourceURLs.")
}

// Validate returns every mistake.
func (e *Endpoints) Validate() error {
	mistakes := []error{check("metrics-bind-address", e.Metrics), check("health-probe-bind-address", e.Health)}
	if e.Profiling && e.Metrics == "0" {
		mistakes = append(mistakes, errors.New("--profiling: profiles are served beside the metrics, set --metrics-bind-address"))
	}
	return errors.Join(mistakes...)
}

// AtLeast returns a mistake if the value of a flag is too small.
func AtLeast[T cmp.Ordered](flag string, value, least T) error {
	if value < least {
		return fmt.Errorf("--%s: %v is less than %v", flag, value, least)
	}
	return nil
}

func check(flag, address string) error {
	if address == "0" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("--%s: %q is neither 0 nor an address such as :8080 or 127.0.0.1:8080", flag, address)
	}
	return nil
}

// Profiles are the handlers of profiles by path, empty unless --profiling is set. They need the authorization of the
// metrics: profiles show the data that the process handles, and cost CPU.
func (e *Endpoints) Profiles() map[string]http.Handler {
	if !e.Profiling {
		return nil
	}
	return map[string]http.Handler{
		"/debug/pprof/":        http.HandlerFunc(pprof.Index),
		"/debug/pprof/cmdline": http.HandlerFunc(pprof.Cmdline),
		"/debug/pprof/profile": http.HandlerFunc(pprof.Profile),
		"/debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
		"/debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
	}
}

// Client limits the requests to an API server.
type Client struct {
	// QPS is the average number of requests per second. Negative: no limit.
	QPS float32
	// Burst is how many requests may exceed it at once.
	Burst int
}

// AddFlags adds the flags. The present values are the defaults.
func (c *Client) AddFlags(flags *pflag.FlagSet) {
	flags.Float32Var(&c.QPS, "kube-api-qps", c.QPS,
		"Average number of requests per second that a client sends to an API server. Negative: only the API server limits "+
			"requests, by priority and fairness.")
	flags.IntVar(&c.Burst, "kube-api-burst", c.Burst, "Number of requests that may exceed --kube-api-qps at once.")
}

// Validate returns every mistake.
func (c *Client) Validate() error {
	switch {
	case c.QPS == 0:
		return errors.New("--kube-api-qps: 0 allows no request; give a rate, or -1 for no limit")
	case c.QPS > 0 && c.Burst < 1:
		return fmt.Errorf("--kube-api-burst: %d is less than 1", c.Burst)
	default:
		return nil
	}
}

// Apply sets the limits of a client.
func (c *Client) Apply(config *rest.Config) { config.QPS, config.Burst = c.QPS, c.Burst }
