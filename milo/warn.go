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

// warnsAs is the name of the component in Events.
const warnsAs = "karmada-compute"

// Warn writes an Event of type Warning about a Project at Milo's root, in namespace default. It returns at once: while Milo is
// unavailable, the Event is retried for some minutes and then dropped.
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
