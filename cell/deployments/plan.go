// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"cmp"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

// target is what a deployment asks for.
type target struct {
	// name of the deployment.
	name string
	// indices are those of the Instances that should run, ascending.
	indices []int
	// hash of the template that they should be made from.
	hash string
	// parallel is false when Instances follow each other.
	parallel bool
	// startable says whether an Instance of a name, made now, may start as far as quota and data go.
	startable func(name string) bool
}

// plan is what to do now. What depends on its outcome is planned when that is seen.
type plan struct {
	// create are the indices of Instances to make.
	create []int
	// remove are Instances to delete.
	remove []*v1alpha.Instance
}

// slots are the Instances of a deployment by their place.
type slots struct {
	// wanted are the Instances at the indices that are asked for, in their order; nil where there is none.
	wanted []*v1alpha.Instance
	// surplus are the Instances at other indices, the highest first.
	surplus []*v1alpha.Instance
	// foreign have names that the deployment does not make.
	foreign []*v1alpha.Instance
}

func arrange(t *target, instances []v1alpha.Instance) slots {
	s := slots{wanted: make([]*v1alpha.Instance, len(t.indices))}
	surplus := map[string]int{}
	for i := range instances {
		instance := &instances[i]
		index, ok := v1alpha.InstanceIndex(t.name, instance.Name)
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

// makePlan decides what to make and what to remove, from what the cache shows. It may be out of date: everything
// planned is either still right later, or refused by the API server (a name that is taken, another UID).
func makePlan(t *target, instances []v1alpha.Instance) plan {
	s := arrange(t, instances)
	if t.parallel {
		return parallelPlan(t, &s)
	}
	return orderedPlan(t, &s)
}

func parallelPlan(t *target, s *slots) plan {
	p := plan{remove: present(slices.Concat(s.foreign, s.surplus))}
	for i, instance := range s.wanted {
		switch {
		case instance == nil:
			p.create = append(p.create, t.indices[i])
		case !deleting(instance) && outdated(t, instance) && (!owned.Ready(instance) || t.startable(instance.Name)):
			p.remove = append(p.remove, instance)
		}
	}
	return p
}

func orderedPlan(t *target, s *slots) plan {
	p := plan{remove: present(s.foreign)}
	// What neither serves nor can become right is replaced wherever it stands: no order may keep a broken template
	// from being corrected.
	for _, instance := range s.wanted {
		if instance != nil && !deleting(instance) && outdated(t, instance) && !owned.Ready(instance) {
			p.remove = append(p.remove, instance)
		}
	}
	if index, ok := nextToCreate(t, s); ok {
		p.create = []int{index}
	}
	switch {
	case slices.ContainsFunc(s.surplus, deleting):
		// The next goes when this one is gone.
	case len(s.surplus) > 0:
		p.remove = append(p.remove, s.surplus[0])
	case len(p.remove) == 0:
		if instance := nextToRoll(t, s); instance != nil {
			p.remove = append(p.remove, instance)
		}
	}
	return p
}

// nextToCreate is the lowest index that is free, when all below it serve.
func nextToCreate(t *target, s *slots) (int, bool) {
	for i, instance := range s.wanted {
		if instance == nil {
			return t.indices[i], true
		}
		if !owned.Ready(instance) {
			return 0, false
		}
	}
	return 0, false
}

// nextToRoll is the highest Instance that serves and is outdated, when nothing else is on its way. An Instance that
// quota or missing data holds is on no way and does not hold up the others; and one that serves is not taken down for a
// successor that would be held.
func nextToRoll(t *target, s *slots) *v1alpha.Instance {
	var next *v1alpha.Instance
	for _, instance := range s.wanted {
		switch {
		case instance == nil || deleting(instance):
			return nil
		case !owned.Ready(instance) && t.startable(instance.Name):
			return nil
		case owned.Ready(instance) && outdated(t, instance) && t.startable(instance.Name):
			next = instance
		}
	}
	return next
}

func outdated(t *target, instance *v1alpha.Instance) bool {
	return owned.TemplateHash(instance) != t.hash
}

func deleting(instance *v1alpha.Instance) bool { return !instance.DeletionTimestamp.IsZero() }

// present are the Instances that are not being deleted.
func present(instances []*v1alpha.Instance) []*v1alpha.Instance {
	return slices.DeleteFunc(slices.Clone(instances), deleting)
}
