// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

// redialInterval is the pause between attempts to connect to an API server that refuses connections.
const redialInterval = 200 * time.Millisecond

// watching returns a configuration for watches that continue as soon as the API server is back. A reflector that cannot
// connect waits longer each time, up to a minute, in which no change at the root would reach the projects.
func watching(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Dial = dialUntilAccepted
	return config
}

// dialUntilAccepted connects, and while the connection is refused, tries again until ctx ends.
func dialUntilAccepted(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	for {
		connection, err := dialer.DialContext(ctx, network, address)
		if err == nil || !errors.Is(err, syscall.ECONNREFUSED) {
			return connection, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(redialInterval):
		}
	}
}
