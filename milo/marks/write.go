// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package marks

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// fieldOwner is the field manager of the marks.
const fieldOwner = client.FieldOwner("karmada-compute-marks")

// writeNext writes the mark of the next project. It returns false at the end.
func (m *Marks) writeNext(ctx context.Context) bool {
	project, ended := m.queue.Get()
	if ended {
		return false
	}
	defer m.queue.Done(project)
	attempt, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err := m.write(attempt, project)
	if ctx.Err() != nil {
		return false
	}
	m.noteAttempt(project, err)
	if err != nil {
		m.queue.AddRateLimited(project)
		return true
	}
	m.queue.Forget(project)
	return true
}

// noteAttempt records an attempt to write and releases the callers that wait for the mark.
func (m *Marks) noteAttempt(project string, err error) {
	m.mu.Lock()
	written, before := m.pending[project], m.away
	m.away = err != nil
	if err == nil {
		delete(m.pending, project)
	}
	m.mu.Unlock()
	select {
	case <-written:
	default:
		close(written)
	}
	if err == nil {
		m.results.WithLabelValues(resultWritten).Inc()
		return
	}
	m.results.WithLabelValues(resultFailed).Inc()
	if !before {
		m.options.Log.Error(err, "Projects cannot be marked on the hub; Workloads are admitted nevertheless, and it is tried again", "project",
			project)
	}
}

// write creates a mark, or removes the note that the owner is leaving from it.
func (m *Marks) write(ctx context.Context, project string) error {
	if !m.Needed(project) {
		if err := m.client.Create(ctx, m.desired(project), fieldOwner); !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	// The API server does not store an update without a change.
	_, err := m.annotate(ctx, project, nil)
	return err
}

// Leave notes in the mark of a project that its owner is leaving, and returns the version in which Remove deletes the
// mark.
func (m *Marks) Leave(ctx context.Context, project string) (version string, err error) {
	return m.annotate(ctx, project, "true")
}

// Remove deletes the mark of a project in a version, or in any version for "". It returns false if the mark has another
// version: a Workload was admitted meanwhile.
func (m *Marks) Remove(ctx context.Context, project, version string) (bool, error) {
	var options []client.DeleteOption
	if version != "" {
		options = append(options, client.Preconditions{ResourceVersion: &version})
	}
	err := m.client.Delete(ctx, m.desired(project), options...)
	switch {
	case apierrors.IsConflict(err):
		return false, nil
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("delete the mark of project %s: %w", project, err)
	}
	return true, nil
}

// annotate sets or removes the note that the owner is leaving.
func (m *Marks) annotate(ctx context.Context, project string, leaving any) (version string, err error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha.AnnotationLeaving: leaving}}})
	if err != nil {
		return "", fmt.Errorf("encode the patch of a mark: %w", err)
	}
	stored := m.desired(project)
	if err := m.client.Patch(ctx, stored, client.RawPatch(types.MergePatchType, patch), fieldOwner); err != nil {
		return "", fmt.Errorf("change the mark of project %s: %w", project, err)
	}
	return stored.ResourceVersion, nil
}

// desired is the mark of a project.
func (m *Marks) desired(project string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: m.options.Namespace, Name: naming.ProjectMarkName(project),
		Labels:      map[string]string{v1alpha.LabelProjectMark: v1alpha.ProjectMarkPresent},
		Annotations: map[string]string{v1alpha.AnnotationProjectName: project},
	}}
}

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
