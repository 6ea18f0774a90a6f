// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

// inBatch returns the Instances of replaced that may be replaced now. The hub paces its own templates by the partition;
// a changed override and the earlier template of a restored backup reach the cell at once, and the cell itself begins with
// one Instance, so that a broken one stops there. A batch follows when the Instances before it are Available.
func inBatch(t *target, s *slots, replaced []*v1alpha.Instance) []*v1alpha.Instance {
	together := 0
	for _, instance := range replaced {
		if t.sentAtOnce(instance) {
			together++
		}
	}
	if together == 0 {
		return replaced
	}
	held := together - t.togetherNow(s, together)
	// The highest indices are first.
	return slices.DeleteFunc(slices.Clone(replaced), func(instance *v1alpha.Instance) bool {
		if held <= 0 || !t.sentAtOnce(instance) {
			return false
		}
		held--
		return true
	})
}

// togetherNow is how many of most Instances a changed override or a restored backup may replace now.
func (t *target) togetherNow(s *slots, limit int) int {
	available, starting := 0, 0
	for _, instance := range s.wanted {
		switch {
		case instance == nil || deleting(instance) || outdated(t, instance) || t.keptAt(instance):
		case owned.Available(instance):
			available++
		case t.startable(instance.Name):
			starting++
		}
	}
	switch {
	case available == 0:
		return max(0, 1-starting)
	case t.batch == 0:
		return limit
	case starting > 0:
		return 0
	}
	return t.batch
}
