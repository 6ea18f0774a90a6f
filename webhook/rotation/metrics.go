// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// newRotations registers the metric that all kinds share.
func newRotations(registerer prometheus.Registerer) (*prometheus.CounterVec, error) {
	rotations := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karmada_compute_webhook_rotations_total",
		Help: "Rotations of the webhooks' paths and CAs that this replica has begun, by cause: due, requested (by annotation), deleted (the Secret was), expired; and for paths, whose last rotation is long enough ago, start, left and handshake: what may have shown the path.",
	}, []string{"of", "cause"})
	if registerer == nil {
		return rotations, nil
	}
	err := registerer.Register(rotations)
	if taken := (prometheus.AlreadyRegisteredError{}); errors.As(err, &taken) {
		if known, ok := taken.ExistingCollector.(*prometheus.CounterVec); ok {
			return known, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("register the metric of rotations: %w", err)
	}
	return rotations, nil
}
