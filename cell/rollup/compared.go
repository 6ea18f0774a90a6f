// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// compared are the resource versions of a slice and of its Instances at the last comparison that found the slice up to
// date.
type compared struct{ slice, instances string }

// upToDate holds the slices of deployments that reported their Instances at the last comparison. It is safe for
// concurrent use.
type upToDate struct {
	mu           sync.Mutex
	byDeployment map[types.NamespacedName]map[int]compared
}

func (u *upToDate) slices(deployment types.NamespacedName) map[int]compared {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.byDeployment[deployment]
}

// set replaces the slices of a deployment. slices must not be changed any more. Without slices, the deployment is
// forgotten.
func (u *upToDate) set(deployment types.NamespacedName, slices map[int]compared) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(slices) == 0 {
		delete(u.byDeployment, deployment)
		return
	}
	u.byDeployment[deployment] = slices
}
