// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

// IsSuspended reports whether a project is suspended, according to the watch of the Projects. The watch has seen every
// engaged project.
func (p *Provider) IsSuspended(project string) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.suspended[project]
}

// OnSuspension registers f. It is called with the name of a project that was suspended or resumed. f must return at
// once.
func (p *Provider) OnSuspension(f func(project string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.suspensions = append(p.suspensions, f)
}

// observeSuspension remembers whether a project is suspended, and calls the functions of OnSuspension when that has
// changed.
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

// warnsAs is the name of the component in Events.
const warnsAs = "karmada-compute"

// Warn writes an Event of type Warning about a Project at Milo's root, in namespace default. It returns at once: while
// Milo is unavailable, the Event is retried for some minutes and then dropped.
func (p *Provider) Warn(project, reason, message string) {
	p.mu.RLock()
	uid := p.known[project].uid
	p.mu.RUnlock()
	recorder, err := p.recorder()
	if err != nil {
		p.options.Log.Error(err, "Cannot write an Event about the project", "project", project, "reason", reason)
		return
	}
	recorder.Event(p.planes.Reference(project, uid), corev1.EventTypeWarning, reason, message)
}

// newRecorder returns a recorder of core v1 Events at Milo's root: Milo does not serve events.k8s.io.
func newRecorder(root *rest.Config) (record.EventRecorder, error) {
	client, err := typedcorev1.NewForConfig(root)
	if err != nil {
		return nil, err
	}
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.Events("")})
	return broadcaster.NewRecorder(clientgoscheme.Scheme, corev1.EventSource{Component: warnsAs}), nil
}
