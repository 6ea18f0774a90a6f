// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

// IsSuspended reports whether a project is suspended, according to the watch of the Projects. The watch has seen every engaged project.
func (p *Provider) IsSuspended(project string) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.suspended[project]
}

// OnSuspension registers f. It is called with the name of a project that was suspended or resumed. f must return at once.
func (p *Provider) OnSuspension(f func(project string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.suspensions = append(p.suspensions, f)
}

// observeSuspension remembers whether a project is suspended, and calls the functions of OnSuspension when that has changed.
func (p *Provider) observeSuspension(project *Project) {
	suspended := project.IsSuspended()
	p.mu.Lock()
	changed := p.suspended[project.Name] != suspended
	if suspended {
		p.suspended[project.Name] = true
	} else {
		delete(p.suspended, project.Name)
	}
	functions := p.suspensions
	p.mu.Unlock()
	if !changed {
		return
	}
	for _, f := range functions {
		f(project.Name)
	}
}
