// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Needs says which projects have to be engaged, from what is in memory. Its methods are safe for concurrent use.
type Needs interface {
	// Needed says whether a project is needed.
	Needed(project string) bool
	// HasSynced says whether Needed knows all.
	HasSynced() bool
	// OnChange has f called with the name of a project that is needed now, or again. f must return at once.
	OnChange(f func(project string))
}

// Marks are the Needs that are on the hub for this purpose alone (package marks).
type Marks interface {
	Needs
	// Projects are those that have a mark.
	Projects() []string
	// Ensure has a mark made that does not exist, or that says that its owner is leaving. It returns at once.
	Ensure(project string)
	// Leave notes in a mark that its owner is leaving, and returns the version of the mark with this note.
	Leave(ctx context.Context, project string) (version string, err error)
	// Remove deletes a mark in a version, or in any for "". It returns false if the mark has another version.
	Remove(ctx context.Context, project, version string) (bool, error)
}

// AddNeeds adds what says which projects are needed. It must be called before this replica owns a shard.
func (p *Provider) AddNeeds(needs Needs) {
	p.mu.Lock()
	p.needs = append(p.needs, needs)
	p.mu.Unlock()
	needs.OnChange(p.Wake)
}

// Wake has a project engaged that exists and that this replica owns, until it has been idle.
func (p *Provider) Wake(project string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if current := p.projects[project]; current != nil {
		current.used, current.leaving = p.options.Clock.Now(), nil
		return
	}
	_, exists := p.known[project]
	if _, owned := p.owned[shardOf(project, p.options.Shards)]; exists && owned {
		p.start(project)
	}
}

// isNeeded says whether a project has to be engaged. p.mu is held.
func (p *Provider) isNeeded(project string) bool {
	if p.options.IdleAfter <= 0 {
		return true
	}
	for _, needs := range p.needs {
		if needs.Needed(project) {
			return true
		}
	}
	return false
}

// isUsed says whether a project has objects that say so. With a cache for a reader that is no request.
func (p *Provider) isUsed(ctx context.Context, project client.Reader) (bool, error) {
	for _, kind := range p.options.Using {
		list, err := p.newList(kind)
		if err != nil {
			return false, err
		}
		if err := project.List(ctx, list, client.Limit(1), client.UnsafeDisableDeepCopy); err != nil {
			return false, fmt.Errorf("list one %T of the project: %w", kind, err)
		}
		if meta.LenList(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// newList is an empty list of a kind.
func (p *Provider) newList(kind client.Object) (client.ObjectList, error) {
	gvk, err := apiutil.GVKForObject(kind, p.options.Scheme)
	if err != nil {
		return nil, fmt.Errorf("find the kind of %T: %w", kind, err)
	}
	made, err := p.options.Scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err != nil {
		return nil, fmt.Errorf("make a list of %s: %w", gvk.Kind, err)
	}
	list, ok := made.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is no list of objects", made)
	}
	return list, nil
}
