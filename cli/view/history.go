// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// ReadRevisions reads the revisions of a Workload, the oldest first.
func ReadRevisions(ctx context.Context, project client.Reader, workload *v1alpha.Workload) ([]v1alpha.WorkloadRevision, error) {
	var list v1alpha.WorkloadRevisionList
	err := project.List(ctx, &list, client.InNamespace(workload.Namespace),
		client.MatchingLabels{v1alpha.LabelWorkloadUID: string(workload.UID)})
	slices.SortFunc(list.Items, func(a, b v1alpha.WorkloadRevision) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	return list.Items, err
}

// PastTemplate is an entry of the history of a Workload.
type PastTemplate struct {
	Change
	Template string `json:"template"`
	Images   string `json:"images"`
	// Data are the objects that its Instances are started with, if a change of data is a rollout, and Changed the ones that
	// differ from the revision before.
	Data    []v1alpha.DataVersion `json:"data,omitempty"`
	Changed []string              `json:"changedData,omitempty"`
}

// Change is a revision of a Workload in words.
type Change struct {
	Revision int64       `json:"revision"`
	Created  metav1.Time `json:"created"`
	// Cause is the annotation of the change or, without one, what differs from the revision before.
	Cause string `json:"cause,omitempty"`
}

// PastTemplates returns the entries of a history.
func PastTemplates(history []v1alpha.WorkloadRevision) ([]PastTemplate, error) {
	past := make([]PastTemplate, 0, len(history))
	for i := range history {
		revision := &history[i].Spec
		// With the names of its snapshots: the hash is the one of the rollout.
		hash, err := templates.Hash(templates.WithSnapshots(&revision.Template, revision.Data))
		if err != nil {
			return nil, err
		}
		entry := PastTemplate{
			Change: changeAt(history, i), Template: hash, Images: strings.Join(ImagesOf(&revision.Template), ","), Data: revision.Data,
		}
		if i > 0 {
			entry.Changed = changedData(history[i-1].Spec.Data, revision.Data)
		}
		past = append(past, entry)
	}
	return past, nil
}

// firstCauses are the causes of the first revision in a history, by whether it is the first one of the Workload.
var firstCauses = map[bool]string{true: "first template", false: "<none>"}

// changeAt returns what a revision of a history changes.
func changeAt(history []v1alpha.WorkloadRevision, at int) Change {
	revision := &history[at]
	change := Change{Revision: revision.Spec.Revision, Created: revision.CreationTimestamp}
	if at > 0 {
		change.Cause = causeBetween(&history[at-1], revision)
	} else {
		change.Cause = cmp.Or(revision.Annotations[v1alpha.AnnotationChangeCause], firstCauses[change.Revision == 1])
	}
	return change
}

// revisionOf returns the place of a template in the history that was read; -1: it is not there.
func (s *Snapshot) revisionOf(hash string) int {
	name := naming.Revision(s.Name, hash)
	return slices.IndexFunc(s.history, func(r v1alpha.WorkloadRevision) bool { return r.Name == name })
}

// causeBetween returns the cause of a revision. An annotation that the revision before has, too, is about an earlier change.
func causeBetween(before, after *v1alpha.WorkloadRevision) string {
	told := after.Annotations[v1alpha.AnnotationChangeCause]
	if told != "" && told != before.Annotations[v1alpha.AnnotationChangeCause] {
		return told
	}
	var changes []string
	former := map[string]*v1alpha.SandboxContainer{}
	for _, container := range before.Spec.Template.Spec.Runtime.Sandbox.AllContainers() {
		former[container.Name] = container
	}
	for _, container := range after.Spec.Template.Spec.Runtime.Sandbox.AllContainers() {
		changes = append(changes, changedFields(former[container.Name], container)...)
		delete(former, container.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(former)) {
		changes = append(changes, "without container "+name)
	}
	at := after.Spec.Template.Annotations[v1alpha.AnnotationRestartedAt]
	if at != "" && at != before.Spec.Template.Annotations[v1alpha.AnnotationRestartedAt] {
		changes = append(changes, "restarted")
	}
	changes = append(changes, changedData(before.Spec.Data, after.Spec.Data)...)
	return cmp.Or(strings.Join(changes, ", "), "other fields of the template")
}

// changedFields names the fields of a container that differ from the ones before, which may be nil.
func changedFields(before, after *v1alpha.SandboxContainer) (changes []string) {
	if before == nil {
		return []string{"new container " + after.Name}
	}
	if before.Image != after.Image {
		changes = append(changes, fmt.Sprintf("image of %s: %s -> %s", after.Name, before.Image, after.Image))
	}
	former, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(before) // types of an API are convertible
	fields, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	for field := range former {
		if _, kept := fields[field]; !kept {
			fields[field] = nil
		}
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if field != "image" && !equality.Semantic.DeepEqual(former[field], fields[field]) {
			changes = append(changes, field+" of "+after.Name)
		}
	}
	return changes
}

// changedData lists the objects whose content differs between two revisions, by kind and name, with the new content.
func changedData(before, after []v1alpha.DataVersion) []string {
	var changed []string
	for _, version := range after {
		if !slices.Contains(before, version) {
			changed = append(changed, version.Kind+"/"+version.Name+"="+version.Hash)
		}
	}
	return changed
}
