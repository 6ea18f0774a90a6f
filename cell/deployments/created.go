// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// awaitedFor is the time for which a created Instance is awaited in the cache. It never appears if it was deleted
// before.
const awaitedFor = 30 * time.Second

// created are the created Instances that the cache may not have yet, by name and with the time until which they are
// awaited: while hundreds are created at once, each event of the first ones would otherwise create the others again.
// The zero value is empty and ready. It is safe for concurrent use.
type created struct {
	mu    sync.Mutex
	times map[types.NamespacedName]map[string]time.Time
}

// add records that an Instance of a deployment was created now.
func (c *created) add(deployment types.NamespacedName, instance string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[types.NamespacedName]map[string]time.Time{}
	}
	if c.times[deployment] == nil {
		c.times[deployment] = map[string]time.Time{}
	}
	c.times[deployment][instance] = now.Add(awaitedFor)
}

// isRecent reports whether something of a deployment was added a short while ago.
func (c *created) isRecent(deployment types.NamespacedName, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, found := c.times[deployment][name]
	return found
}

// expire drops a deployment's entries that are older than awaitedFor.
func (c *created) expire(deployment types.NamespacedName, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, until := range c.times[deployment] {
		if !now.Before(until) {
			delete(c.times[deployment], name)
		}
	}
	if len(c.times[deployment]) == 0 {
		delete(c.times, deployment)
	}
}

// awaited are the created Instances of a deployment that the cache does not have yet. After rest, none is awaited any
// more.
func (c *created) awaited(
	deployment types.NamespacedName, cached []v1alpha.Instance, now time.Time,
) (names map[string]struct{}, remaining time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.times[deployment]
	if len(all) == 0 {
		return nil, 0
	}
	for i := range cached {
		delete(all, cached[i].Name)
	}
	names = make(map[string]struct{}, len(all))
	for name, until := range all {
		if left := until.Sub(now); left > 0 {
			names[name] = struct{}{}
			remaining = max(remaining, left)
		} else {
			delete(all, name)
		}
	}
	if len(all) == 0 {
		delete(c.times, deployment)
	}
	return names, remaining
}

// forget drops a deleted deployment.
func (c *created) forget(deployment types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.times, deployment)
}
