// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/internal/listeners"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/flood"
)

// TestFloodOfProbes verifies that callers hold no more than their share of connections at the port for probes, while a
// kubelet's probes are answered within their second.
func TestFloodOfProbes(t *testing.T) {
	address, health := testenv.FreeAddress(t), &Health{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- health.Serve(ctx, address) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	// As a kubelet's, which keeps no connection.
	kubelet := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	probe := func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/healthz", http.NoBody)
		if err != nil {
			return err
		}
		answer, err := kubelet.Do(request)
		if err != nil {
			return err
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %w", answer.Status, err)
		}
		return nil
	}
	for deadline := time.Now().Add(10 * time.Second); probe() != nil && time.Now().Before(deadline); {
		continue
	}
	held := flood.Hold(t, address, flood.Options{Connections: 3000})
	held.AwaitAlive(t, listeners.Probes.PerSource, 10*time.Second)
	median, longest := flood.Latency(t, 20, probe)
	t.Logf("%d connections were opened, %d are open; a probe takes %s, at most %s", held.Held(), held.Alive(), median, longest)
	if longest > time.Second {
		t.Errorf("a probe takes up to %s", longest)
	}
}
