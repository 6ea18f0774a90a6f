// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"cmp"
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// target is the desired state of the Instances of a deployment.
type target struct {
	// name of the deployment.
	name string
	// indices of the desired Instances, ascending.
	indices []int
	// hashAt is the hash of the template of a new Instance at an index.
	hashAt func(index int) string
	// kept reports whether the Instance at an index keeps the template that it has while it is Ready, by the partition of a
	// rollout.
	kept func(index int) bool
	// workload is the UID of their Workload.
	workload string
	// parallel is false when Instances are created and replaced one after the other.
	parallel bool
	// maxUnavailable is how many Instances may be unavailable while parallel ones are replaced.
	maxUnavailable int
	// sentAtOnce reports whether an Instance that must be replaced differs only by an override policy, or is to get an
	// earlier template, from a restored backup: all cells have the difference at once.
	sentAtOnce func(instance *v1alpha.Instance) bool
	// held reports whether an Instance keeps its template until the turn of the cell for such a difference.
	held func(instance *v1alpha.Instance) bool
	// batch is how many Instances such a difference replaces at once after the first one; 0: maxUnavailable is the limit.
	batch int
	// suspended reports that the project is suspended: no Instance is created or replaced.
	suspended bool
	// lapse is how much longer an Instance that has just ceased to be Ready may become Ready again by itself; 0: it is
	// broken.
	lapse func(instance *v1alpha.Instance) time.Duration
	// startable reports whether a new Instance of a name would start: its quota is granted and its data is in the cell.
	startable func(name string) bool
}

// plan holds the actions to take now. Actions that depend on their outcome are planned once the outcome is observed.
type plan struct {
	// create are the indices of Instances to create.
	create []int
	// remove are Instances to delete.
	remove []*v1alpha.Instance
	// again is when to plan again without an event; 0: not.
	again pace.After
}

// replaceUnavailable removes an Instance of an old template that is not Available, unless it may become Ready again by
// itself, or is Ready and its successor would wait or it waits for its turn.
func (p *plan) replaceUnavailable(t *target, instance *v1alpha.Instance) {
	switch {
	case !owned.Ready(instance):
		p.replaceBroken(t, instance)
	case t.startable(instance.Name) && !t.holds(instance):
		p.remove = append(p.remove, instance)
	}
}

// replaceBroken removes an Instance of an old template that is not Ready, unless it may become Ready again by itself: a
// node whose probes are slow for a moment would otherwise lose all Instances at once.
func (p *plan) replaceBroken(t *target, instance *v1alpha.Instance) {
	if remaining := t.lapse(instance); remaining > 0 {
		p.again.AtMost(remaining)
		return
	}
	p.remove = append(p.remove, instance)
}

// slots are the Instances of a deployment by their indices.
type slots struct {
	// wanted are the Instances at the desired indices, in their order; nil for a missing Instance.
	wanted []*v1alpha.Instance
	// surplus are the Instances at other indices, the highest first.
	surplus []*v1alpha.Instance
	// foreign have names that the deployment does not create.
	foreign []*v1alpha.Instance
}

func arrange(t *target, instances []v1alpha.Instance) slots {
	s := slots{wanted: make([]*v1alpha.Instance, len(t.indices))}
	surplus := map[string]int{}
	for i := range instances {
		instance := &instances[i]
		index, ok := naming.InstanceIndex(t.name, instance.Name)
		place, wanted := slices.BinarySearch(t.indices, index)
		switch {
		case !ok:
			s.foreign = append(s.foreign, instance)
		case wanted:
			s.wanted[place] = instance
		default:
			surplus[instance.Name] = index
			s.surplus = append(s.surplus, instance)
		}
	}
	slices.SortFunc(s.surplus, func(a, b *v1alpha.Instance) int { return cmp.Compare(surplus[b.Name], surplus[a.Name]) })
	return s
}

// makePlan decides which Instances to create and delete, from the cache. The cache may be stale: each planned action is
// still right then, or the API server refuses it (a name that is taken, another UID).
func makePlan(t *target, instances []v1alpha.Instance) plan {
	s := arrange(t, instances)
	if t.suspended {
		// Indices that the cell must release are released even now: other cells may wait for them.
		return plan{remove: present(slices.Concat(s.foreign, s.surplus))}
	}
	if t.parallel {
		return parallelPlan(t, &s)
	}
	return orderedPlan(t, &s)
}

// parallelPlan creates all missing Instances at once, and replaces Instances of an old template from the highest index
// down, as many as may be unavailable. Broken Instances are replaced at once: they must not keep a broken template from
// being corrected. An Instance that waits for quota or data does not hold up the others, and no Instance is deleted
// whose successor would wait.
func parallelPlan(t *target, s *slots) plan {
	p := plan{remove: present(slices.Concat(s.foreign, s.surplus))}
	left := t.maxUnavailable
	var available []*v1alpha.Instance
	for i, instance := range s.wanted {
		if instance == nil {
			p.create = append(p.create, t.indices[i])
		}
		switch replaced := instance != nil && !deleting(instance) && outdated(t, instance); {
		case instance != nil && owned.Available(instance):
			if replaced && t.startable(instance.Name) && !t.holds(instance) {
				available = append(available, instance)
			}
			continue
		case replaced:
			p.replaceUnavailable(t, instance)
		}
		if t.startable(naming.InstanceName(t.name, t.indices[i])) {
			left--
		}
	}
	for _, instance := range slices.Backward(inBatch(t, s, available)) {
		if left--; left >= 0 {
			p.remove = append(p.remove, instance)
		}
	}
	return p
}

func orderedPlan(t *target, s *slots) plan {
	p := plan{remove: present(s.foreign)}
	// An Instance of an old template that is not Ready is replaced at any index: the order must not keep a broken template
	// from being corrected.
	for _, instance := range s.wanted {
		if instance != nil && !deleting(instance) && outdated(t, instance) && !owned.Ready(instance) {
			p.replaceBroken(t, instance)
		}
	}
	if index, ok := nextToCreate(t, s); ok {
		p.create = []int{index}
	}
	switch {
	case slices.ContainsFunc(s.surplus, deleting):
		// The next one is deleted when this one is gone.
	case len(s.surplus) > 0:
		p.remove = append(p.remove, s.surplus[0])
	case len(p.remove) == 0:
		if instance := nextToRoll(t, s); instance != nil {
			p.remove = append(p.remove, instance)
		}
	}
	return p
}

// nextToCreate is the lowest index without an Instance, when all Instances below it are Available.
func nextToCreate(t *target, s *slots) (int, bool) {
	for i, instance := range s.wanted {
		if instance == nil {
			return t.indices[i], true
		}
		if !owned.Available(instance) {
			return 0, false
		}
	}
	return 0, false
}

// nextToRoll is the Instance with the highest index that is Ready and outdated, when all others are Available. An
// Instance that waits for quota or data does not hold up the others, and none is deleted whose successor would wait.
func nextToRoll(t *target, s *slots) *v1alpha.Instance {
	var next *v1alpha.Instance
	for _, instance := range s.wanted {
		switch {
		case instance == nil || deleting(instance):
			return nil
		case !owned.Available(instance) && t.startable(instance.Name):
			return nil
		case owned.Ready(instance) && outdated(t, instance) && t.startable(instance.Name) && !t.holds(instance):
			next = instance
		}
	}
	return next
}

// outdated reports whether an Instance must be replaced: it has another template, or belongs to an earlier Workload of
// this name. A Ready Instance that the partition of a rollout keeps is not replaced, as in a StatefulSet, and one that is
// not Ready gets the earlier template.
func outdated(t *target, instance *v1alpha.Instance) bool {
	index, _ := naming.InstanceIndex(t.name, instance.Name)
	workload := instance.Labels[v1alpha.LabelWorkloadUID]
	another := instance.TemplateHash() != t.hashAt(index) && (!t.keptAt(instance) || !owned.Ready(instance))
	return another || workload != "" && workload != t.workload
}

// keptAt reports whether the partition of a rollout keeps an Instance.
func (t *target) keptAt(instance *v1alpha.Instance) bool {
	index, _ := naming.InstanceIndex(t.name, instance.Name)
	return t.kept(index)
}

// holds reports whether an Instance keeps its template until the turn of the cell.
func (t *target) holds(instance *v1alpha.Instance) bool { return t.held != nil && t.held(instance) }

func deleting(instance *v1alpha.Instance) bool { return !instance.DeletionTimestamp.IsZero() }

// present are the Instances that are not being deleted.
func present(instances []*v1alpha.Instance) []*v1alpha.Instance {
	return slices.DeleteFunc(slices.Clone(instances), deleting)
}
