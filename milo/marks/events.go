// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package marks

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// events update the known marks.
func (m *Marks) events() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    m.observe,
		UpdateFunc: func(_, obj any) { m.observe(obj) },
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			if found, ok := obj.(*metav1.PartialObjectMetadata); ok {
				m.mu.Lock()
				defer m.mu.Unlock()
				delete(m.known, projectOf(found))
			}
		},
	}
}

func (m *Marks) observe(obj any) {
	found, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok || projectOf(found) == "" {
		return
	}
	project, now := projectOf(found), mark{version: found.ResourceVersion, leaving: isLeaving(found)}
	m.mu.Lock()
	before, existed := m.known[project]
	m.known[project] = now
	changed := m.changed
	m.mu.Unlock()
	if now.leaving && existed || existed && !before.leaving {
		return
	}
	for _, f := range changed {
		f(project)
	}
}

func projectOf(found *metav1.PartialObjectMetadata) string {
	return found.Annotations[v1alpha.AnnotationProjectName]
}

func isLeaving(found *metav1.PartialObjectMetadata) bool {
	return found.Annotations[v1alpha.AnnotationLeaving] != ""
}
