// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"time"
)

// aloneTimeout bounds the question whether another replica answers. A replica starts that much later at most.
const aloneTimeout = time.Second

// alone reports whether callers of the webhooks reach no other replica. It must be asked before this one listens.
func (a *app) alone(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aloneTimeout)
	defer cancel()
	// Nothing is sent or read: any answer is enough.
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}} //nolint:gosec // see above
	conn, err := dialer.DialContext(ctx, "tcp", a.calledAt())
	if err != nil {
		return true
	}
	_ = conn.Close() // it was not used
	return false
}

// calledAt is the address of the webhooks for their callers.
func (a *app) calledAt() string {
	if address, err := url.Parse(a.options.webhook.url); err == nil && address.Host != "" {
		if address.Port() != "" {
			return address.Host
		}
		return net.JoinHostPort(address.Hostname(), "443")
	}
	return net.JoinHostPort(service+"."+a.options.hub.namespace+".svc", "443")
}
