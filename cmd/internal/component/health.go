// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/karmada-compute/karmada-compute/internal/listeners"
)

// Health serves /healthz and /readyz as long as a component runs, also while it waits for its requirements.
type Health struct {
	ready atomic.Pointer[healthz.Checker]
}

// errBeginning is why a component is not ready that has not begun.
var errBeginning = errors.New("the API server has not answered since this process started; see its log")

// SetReady has a checker answer /readyz from now on.
func (h *Health) SetReady(checker healthz.Checker) { h.ready.Store(&checker) }

// Serve serves until ctx ends. With address 0, it does not listen.
func (h *Health) Serve(ctx context.Context, address string) error {
	if address == "0" {
		return nil
	}
	listener, err := listeners.Listen(ctx, address, listeners.Probes)
	if err != nil {
		return fmt.Errorf("serve probes, see --health-probe-bind-address: %w", err)
	}
	mux := http.NewServeMux()
	handle(mux, "/healthz", "ping", healthz.Ping)
	handle(mux, "/readyz", "cache", func(request *http.Request) error {
		if checker := h.ready.Load(); checker != nil {
			return (*checker)(request)
		}
		return errBeginning
	})
	if err := listeners.Serve(ctx, listeners.NewServer(mux, listeners.ProbeTimeouts), listener, 0); err != nil {
		return fmt.Errorf("serve probes: %w", err)
	}
	return nil
}

// handle serves a check, also by its name below the path.
func handle(mux *http.ServeMux, path, name string, check healthz.Checker) {
	handler := http.StripPrefix(path, &healthz.Handler{Checks: map[string]healthz.Checker{name: check}})
	mux.Handle(path, handler)
	mux.Handle(path+"/", handler)
}
