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

// Needs reports from memory which projects must be engaged. Its methods are safe for concurrent use.
type Needs interface {
	// Needed reports whether a project is needed.
	Needed(project string) bool
	// HasSynced reports whether Needed knows all projects.
	HasSynced() bool
	// OnChange registers f. It is called with the name of a project that is needed now, or again. f must return at once.
	OnChange(f func(project string))
}

// Marks are the Needs that package marks stores on the hub.
type Marks interface {
	Needs
	// Projects returns the projects that have a mark.
	Projects() []string
	// Ensure creates a mark that does not exist, and removes the note that its owner is leaving. It returns at once.
	Ensure(project string)
	// Leave notes in a mark that its owner is leaving, and returns the version of the mark with this note.
	Leave(ctx context.Context, project string) (version string, err error)
	// Remove deletes a mark in a version, or in any version for "". It returns false if the mark has another version.
	Remove(ctx context.Context, project, version string) (bool, error)
}

// AddNeeds adds a source of needed projects. It must be called before this replica owns a shard.
func (p *Provider) AddNeeds(needs Needs) {
	p.mu.Lock()
	p.needs = append(p.needs, needs)
	p.mu.Unlock()
	needs.OnChange(p.Wake)
}

// Wake engages a project that exists and that this replica owns, until it has been idle.
func (p *Provider) Wake(project string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if current := p.projects[project]; current != nil {
		current.used, current.leaving = p.options.Clock.Now(), nil
		return
	}
	_, exists := p.known[project]
	if _, owned := p.owned[p.shardOf(project)]; exists && owned {
		p.start(project)
	}
}

// isNeeded reports whether a project must be engaged. p.mu is held.
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

// isUsed reports whether a project has objects of the kinds in Using. With a cache as reader, it sends no request.
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
