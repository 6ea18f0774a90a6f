// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/milo/shards"
	"github.com/karmada-compute/karmada-compute/testenv/flood"
)

// TestFlood verifies that callers that are no replicas hold no more than their share of connections, while pings are
// answered.
func TestFlood(t *testing.T) {
	one, _ := listen(t, shards.Accepted)
	other, heard := listen(t, shards.Accepted)
	address, _, _ := strings.Cut(other.Endpoint(), "#")
	held := flood.Hold(t, address, flood.Options{Connections: 3000})
	held.AwaitAlive(t, bounds.PerSource, 10*time.Second)
	median, longest := flood.Latency(t, 20, func() error {
		one.client.CloseIdleConnections()
		err := one.Ping(t.Context(), other.Endpoint(), shards.Ping{Endpoint: one.Endpoint()})
		if err == nil {
			<-heard
		}
		return err
	})
	t.Logf("%d connections were opened, %d are open; a ping takes %s, at most %s", held.Held(), held.Alive(), median, longest)
	// Replicas ask each other every second.
	if longest > time.Second {
		t.Errorf("a ping takes up to %s", longest)
	}
}
