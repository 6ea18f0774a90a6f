// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// Client limits the requests to an API server.
type Client struct {
	// QPS is the average number of requests per second. Negative: no limit.
	QPS float32
	// Burst is how many requests may exceed it at once.
	Burst int
}

// AddFlags adds the flags. The present values are the defaults.
func (c *Client) AddFlags(flags *pflag.FlagSet) {
	flags.Float32Var(&c.QPS, "kube-api-qps", c.QPS, "Average number of requests per second that a client sends to an API server. Negative: only the API server limits requests, by priority and fairness.")
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
