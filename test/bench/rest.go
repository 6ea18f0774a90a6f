// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// unwritten is how long nothing must be written to the hub until it is at rest. restPatience is how long that may take.
const (
	unwritten    = 3 * time.Second
	restPatience = 10 * time.Minute
)

// rest waits until nothing is written to the hub any more. Karmada writes Events long after what they tell of: while hundreds of
// objects are created thousands of them queue up, and what is measured before they are written pays for them.
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

// heartbeat says whether a resource is written at rest, too.
func heartbeat(resource string) bool {
	switch resource {
	case "coordination.k8s.io/leases", "cluster.karmada.io/clusters/status":
		return true
	default:
		return false
	}
}
