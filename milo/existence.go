// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Owners decides which projects are gone.
type Owners interface {
	// IsGone reports whether a project is proved gone. An error is no answer.
	IsGone(ctx context.Context, project string) (bool, error)
}

// SetOwners sets the source that decides whether the project of a mark is gone. Until then no such mark is removed.
func (p *Provider) SetOwners(owners Owners) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owners = owners
}

// Owns reports whether this replica owns the shard of a key now, whether the project or the cell exists or not.
func (p *Provider) Owns(key naming.ShardKey) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	shard := p.owned[key.Shard(p.options.Shards)]
	return shard != nil && shard.Err() == nil
}

// Knows reports whether the watch of the Projects has seen the project with this name and UID, and not its deletion. A
// false result proves nothing: the watch may lag, or Milo's list may be wrong. Call Lookup then.
func (p *Provider) Knows(name string, uid types.UID) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return uid != "" && p.known[name].uid == uid
}

// Lookup asks Milo's root now, bypassing all caches. found is false only if Milo has answered that the project does not
// exist; an error is no answer.
func (p *Provider) Lookup(ctx context.Context, name string) (uid types.UID, found bool, err error) {
	project, found, err := getProject(ctx, p.root, name)
	if err != nil || !found {
		return "", false, err
	}
	return project.UID, true, nil
}

// Identity returns the identity of Milo, bypassing all caches (Planes).
func (p *Provider) Identity(ctx context.Context) (types.UID, error) { return p.planes.Identity(ctx) }

// OnChange registers f. It is called with the name of a project that was deleted or recreated, and with "" when this
// replica has acquired a shard. f must return at once.
func (p *Provider) OnChange(f func(project string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = append(p.changed, f)
}

// notify calls the functions of OnChange. p.mu is not held.
func (p *Provider) notify(project string) {
	p.mu.RLock()
	changed := p.changed
	p.mu.RUnlock()
	for _, f := range changed {
		f(project)
	}
}
