// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// leaveAfter is the time between the owner's note in a mark that it is leaving and the deletion of the mark. Requests
	// admitted before the note became visible have ended by then: API servers time out requests after one minute.
	leaveAfter = 2 * time.Minute
	// shortestLook and longestLook bound the interval between checks of the engaged projects. A check reads memory only.
	shortestLook, longestLook = 50 * time.Millisecond, 30 * time.Second
	// leavers is the number of projects that are released at the same time. leaveTimeout bounds the requests for one
	// project.
	leavers      = 8
	leaveTimeout = 15 * time.Second
	// astrayAtOnce is the approximate number of projects per check whose existence Milo is asked for: projects with a mark
	// that the watch of the Projects does not know.
	astrayAtOnce = 5
)

// leaving is a project that is about to be released.
type leaving struct {
	since time.Time
	// version is the version of the mark with the note.
	version string
}

// letGo disengages unneeded projects until ctx ends.
func (p *Provider) letGo(ctx context.Context) {
	ticker := p.options.Clock.NewTicker(min(max(p.options.IdleAfter/20, shortestLook), longestLook))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		if !p.needsSynced() {
			continue
		}
		var group errgroup.Group
		group.SetLimit(leavers)
		for project, engaged := range p.ready() {
			if !p.isIdle(ctx, project, engaged) {
				continue
			}
			group.Go(func() error { p.leave(ctx, project, engaged); return nil })
		}
		_ = group.Wait() // none of them fails
		p.removeAstray(ctx)
	}
}

func (p *Provider) needsSynced() bool {
	p.mu.RLock()
	needs := p.needs
	p.mu.RUnlock()
	for _, n := range needs {
		if !n.HasSynced() {
			return false
		}
	}
	return true
}

// ready are the engagements whose informers have synced.
func (p *Provider) ready() map[string]*engagement {
	p.mu.RLock()
	defer p.mu.RUnlock()
	ready := map[string]*engagement{}
	for project, engaged := range p.projects {
		if engaged.cluster != nil {
			ready[project] = engaged
		}
	}
	return ready
}

// isIdle reports whether a project has been unneeded for long enough. It reads memory only, and ensures the mark of a
// project that is in use.
func (p *Provider) isIdle(ctx context.Context, project string, engaged *engagement) bool {
	p.mu.RLock()
	cl := engaged.cluster
	p.mu.RUnlock()
	if cl == nil {
		return false
	}
	used, err := p.isUsed(ctx, cl.GetCache())
	if err != nil {
		// The cache has just stopped.
		return false
	}
	if used {
		p.options.Marks.Ensure(project)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if used || p.isHeld(project) {
		engaged.used, engaged.leaving = p.options.Clock.Now(), nil
	}
	return p.projects[project] == engaged && p.options.Clock.Since(engaged.used) >= p.options.IdleAfter
}

// isHeld reports whether a project is needed for another reason than its mark. p.mu is held.
func (p *Provider) isHeld(project string) bool {
	for _, needs := range p.needs {
		if needs != Needs(p.options.Marks) && needs.Needed(project) {
			return true
		}
	}
	return false
}

// leave takes one step towards the release of an idle project. The next check retries failed steps.
func (p *Provider) leave(ctx context.Context, project string, engaged *engagement) {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	p.mu.RLock()
	begun := engaged.leaving
	p.mu.RUnlock()
	marked := p.options.Marks.Needed(project)
	log := p.options.Log.WithValues("project", project)
	if marked && begun == nil {
		version, err := p.options.Marks.Leave(ctx, project)
		if err != nil {
			log.V(1).Info("The project stays engaged: its mark cannot be changed", "error", err.Error())
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		engaged.leaving = &leaving{since: p.options.Clock.Now(), version: version}
		return
	}
	if marked && p.options.Clock.Since(begun.since) < p.leaveAfter {
		return
	}
	if used, err := p.askUsed(ctx, project); err != nil || used {
		p.keep(project, engaged, used)
		return
	}
	if marked {
		removed, err := p.options.Marks.Remove(ctx, project, begun.version)
		if err != nil {
			log.V(1).Info("The project stays engaged: its mark cannot be removed", "error", err.Error())
			return
		}
		if !removed {
			p.keep(project, engaged, true)
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.projects[project] != engaged || p.options.Clock.Since(engaged.used) < p.options.IdleAfter {
		// It was woken meanwhile.
		return
	}
	p.disengage(project, engaged)
	p.schedule(project)
	log.Info("Project disengaged: it has no Workloads")
}

// keep restarts the idle time of a project, and ensures the mark of a project that is in use.
func (p *Provider) keep(project string, engaged *engagement, used bool) {
	if used {
		p.options.Marks.Ensure(project)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	engaged.used, engaged.leaving = p.options.Clock.Now(), nil
}

// askUsed asks a project whether it is in use, bypassing all caches: the cache of a project whose watch broke misses
// new Workloads.
func (p *Provider) askUsed(ctx context.Context, project string) (bool, error) {
	asked, err := p.planes.Client(project)
	if err != nil {
		return false, err
	}
	return p.isUsed(ctx, asked)
}

// removeAstray removes the marks of projects that, according to Milo, have not existed for as long as an idle project
// stays engaged.
func (p *Provider) removeAstray(ctx context.Context) {
	asked := 0
	for project := range p.findAstray() {
		if asked++; asked > astrayAtOnce || ctx.Err() != nil {
			return
		}
		if err := p.removeMark(ctx, project); err != nil {
			p.options.Log.V(1).Info("The mark of a project that does not exist stays for now", "project", project, "error", err.Error())
		}
		p.mu.Lock()
		delete(p.astray, project)
		p.mu.Unlock()
	}
}

// removeMark removes the mark of a project that is proved gone.
func (p *Provider) removeMark(ctx context.Context, project string) error {
	p.mu.RLock()
	owners := p.owners
	p.mu.RUnlock()
	if owners == nil {
		return errors.New("nothing decides yet whether projects are gone")
	}
	isGone, err := owners.IsGone(ctx, project)
	if err != nil || !isGone {
		return err
	}
	_, err = p.options.Marks.Remove(ctx, project, "")
	return err
}

// findAstray are the projects of this replica that have a mark and have not been known for long enough.
func (p *Provider) findAstray() map[string]time.Time {
	marked := p.options.Marks.Projects()
	now := p.options.Clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	before, found := p.astray, map[string]time.Time{}
	p.astray = map[string]time.Time{}
	for _, project := range marked {
		_, exists := p.known[project]
		if _, owned := p.owned[p.shardOf(project)]; exists || !owned {
			continue
		}
		since, seen := before[project]
		if !seen {
			since = now
		}
		p.astray[project] = since
		if now.Sub(since) >= p.options.IdleAfter {
			found[project] = since
		}
	}
	return found
}
