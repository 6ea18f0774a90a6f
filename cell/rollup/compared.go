// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// compared is a slice and the Instances that it reports, by their resource versions, when the one was found to report the others.
type compared struct{ slice, instances string }

// upToDate are the slices of deployments that reported their Instances when they were looked at last. It is safe for concurrent use.
type upToDate struct {
	mu sync.Mutex
	of map[types.NamespacedName]map[int]compared
}

func (u *upToDate) slices(deployment types.NamespacedName) map[int]compared {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.of[deployment]
}

// set replaces those of a deployment. slices must not be changed any more. Without any it is forgotten.
func (u *upToDate) set(deployment types.NamespacedName, slices map[int]compared) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(slices) == 0 {
		delete(u.of, deployment)
		return
	}
	u.of[deployment] = slices
}
