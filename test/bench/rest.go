// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// unwritten is how long there must be no writes to the hub until it is at rest. restPatience bounds the wait for that.
const (
	unwritten    = 3 * time.Second
	restPatience = 10 * time.Minute
)

// rest waits until the hub receives no more writes. Karmada writes Events long after their cause: while hundreds of
// objects are created, thousands of Events queue up, and their writes would slow down the next measurement.
func (s *stage) rest(ctx context.Context) error {
	var last string
	err := wait.PollUntilContextTimeout(ctx, unwritten, restPatience, false, func(context.Context) (bool, error) {
		writes, err := s.federation.Writes(hubPlane, time.Now().Add(-unwritten))
		if err != nil {
			return false, err
		}
		for _, write := range writes {
			if !heartbeat(write.Resource) {
				last = fmt.Sprintf("%s of %s %s/%s by %s", write.Verb, write.Resource, write.Namespace, write.Name, write.User)
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("the hub is not at rest within %s, last write: %s: %w", restPatience, last, err)
	}
	return nil
}

// heartbeat reports whether a resource is written at rest, too.
func heartbeat(resource string) bool {
	switch resource {
	case "coordination.k8s.io/leases", "cluster.karmada.io/clusters/status":
		return true
	default:
		return false
	}
}
