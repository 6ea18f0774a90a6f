// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// annotationWritten has when the hub has last written a ConfigMap or Secret in the cell. The cache alone has it.
const annotationWritten = "compute.datumapis.com/written"

// shortHash is how many characters of a hash a Pod has for each object that its containers keep: changes are told
// apart by fewer than identities.
const shortHash = 8

var stripData = watch.StripAnnotations(annotationWritten)

// TrimData drops what no controller reads of the metadata of a ConfigMap or Secret, and keeps when it was last
// written: a container that was started later has its content.
func TrimData(object any) (any, error) {
	metadata, ok := object.(client.Object)
	if !ok {
		return object, nil
	}
	var last metav1.Time
	for _, fields := range metadata.GetManagedFields() {
		if fields.Time != nil && last.Before(fields.Time) {
			last = *fields.Time
		}
	}
	if !last.IsZero() {
		annotations := metadata.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[annotationWritten] = last.UTC().Format(time.RFC3339)
		metadata.SetAnnotations(annotations)
	}
	return stripData(object)
}

// content is the content in the cell of a ConfigMap or Secret that an Instance is started with.
type content struct {
	v1alpha.DataVersion
	// written is when the cell got it; zero if that is unknown.
	written time.Time
	// keptBy are the containers that keep it until they are restarted.
	keptBy []string
}

// contents are the contents of the data of an Instance, by kind and name.
type contents []content

// contents finds the contents of the data that the Instance names. It returns none if a content is not known, as the one
// of a hub of an earlier version.
func (s *scope) contents(ctx context.Context) (contents, error) {
	named := templates.StartData(&s.instance.Spec)
	result := make(contents, 0, len(named))
	for object, keptBy := range named {
		absent := v1alpha.DataVersion{Kind: object.Kind, Name: object.Name, Hash: templates.AbsentData}
		entry := content{DataVersion: absent, keptBy: keptBy}
		if version, isSnapshot := templates.ParseSnapshot(object); isSnapshot {
			// A snapshot never changes.
			entry.DataVersion, entry.keptBy = version, nil
			result = append(result, entry)
			continue
		}
		found := metadataOf(object.Kind)
		err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.instance.Namespace, Name: object.Name}, found)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("get %s %s: %w", object.Kind, object.Name, err)
		case found.Labels[v1alpha.LabelDataHash] == "":
			return nil, nil
		default:
			holds, err := s.held.hashesOf(ctx, s.APIReader, found)
			if err != nil {
				return nil, err
			}
			entry.Hash = holds.stored
			// The cache has no other times than its own.
			entry.written, _ = time.Parse(time.RFC3339, found.Annotations[annotationWritten])
		}
		result = append(result, entry)
	}
	slices.SortFunc(result, func(a, b content) int { return templates.CompareData(a.DataVersion, b.DataVersion) })
	return result, nil
}

func (c contents) hash() string {
	versions := make([]v1alpha.DataVersion, 0, len(c))
	for i := range c {
		versions = append(versions, c[i].DataVersion)
	}
	return templates.HashStarted(versions)
}

// kept returns the contents that containers keep until they are restarted.
func (c contents) kept() contents {
	return slices.DeleteFunc(slices.Clone(c), func(entry content) bool { return len(entry.keptBy) == 0 })
}

// record returns the annotation of a Pod that is created with these contents.
func (c contents) record() string {
	words := []string{c.hash()}
	for _, entry := range c.kept() {
		words = append(words, entry.Hash[:min(shortHash, len(entry.Hash))])
	}
	return strings.Join(words, " ")
}

// startedData is the data that the Pod of an Instance was started with.
type startedData struct {
	// hash of all of it; "" if it is not known, or if the Instance names none.
	hash string
	// pending are the contents that wait for a restart.
	pending contents
	// restarted is the record of the contents that the containers were restarted with; "": none. Without it, a later write of
	// the metadata of an object would look like another change.
	restarted string
}

// compared returns the data that a Pod was started with, from its record and from the present contents. A container
// that was started after a change has the changed content.
func (c contents) compared(pod *corev1.Pod) startedData {
	words := strings.Fields(pod.Annotations[v1alpha.AnnotationStartedWith])
	kept := c.kept()
	if len(words) == 0 {
		return startedData{}
	}
	started := startedData{hash: words[0]}
	if len(words) != 1+len(kept) {
		return started
	}
	changed, restarted := false, strings.Fields(pod.Annotations[v1alpha.AnnotationRestartedWith])
	for i, entry := range kept {
		// A restart brings no content back that was deleted.
		if entry.Hash == templates.AbsentData || strings.HasPrefix(entry.Hash, words[1+i]) {
			continue
		}
		changed = true
		if len(restarted) == len(words) && strings.HasPrefix(entry.Hash, restarted[1+i]) {
			continue
		}
		if slices.ContainsFunc(entry.keptBy, func(container string) bool { return startedBefore(pod, container, entry.written) }) {
			started.pending = append(started.pending, entry)
		}
	}
	if changed && len(started.pending) == 0 {
		started.hash, started.restarted = c.hash(), c.record()
	}
	return started
}

// startedBefore reports whether a container of a Pod was started no later than a time. Times have whole seconds.
func startedBefore(pod *corev1.Pod, container string, at time.Time) bool {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if status.Name != container {
			continue
		}
		switch state := status.State; {
		case state.Running != nil:
			return !state.Running.StartedAt.After(at)
		case state.Terminated != nil:
			return !state.Terminated.StartedAt.After(at)
		}
	}
	return false
}

// findData finds out which data the Pod was started with, and what waits for a restart. Of a Pod that is replaced or
// stopped, nothing waits.
func (s *scope) findData(ctx context.Context) error {
	if s.pod == nil || s.pod.Annotations[v1alpha.AnnotationStartedWith] == "" {
		return nil
	}
	if s.earlier() || !s.instance.DeletionTimestamp.IsZero() || !s.pod.DeletionTimestamp.IsZero() {
		s.started = contents(nil).compared(s.pod)
		return nil
	}
	present, err := s.contents(ctx)
	if err != nil {
		return err
	}
	s.started = present.compared(s.pod)
	if restarted := s.started.restarted; restarted != "" && restarted != s.pod.Annotations[v1alpha.AnnotationRestartedWith] {
		return s.annotatePod(ctx, v1alpha.AnnotationRestartedWith, restarted)
	}
	return nil
}

// recordData records in a Pod that is created the data that it is started with.
func (s *scope) recordData(ctx context.Context, pod *corev1.Pod) error {
	present, err := s.contents(ctx)
	if err != nil || len(present) == 0 {
		return err
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[v1alpha.AnnotationStartedWith] = present.record()
	return nil
}

// conditions returns condition DataCurrent while newer data waits for a restart.
func (d *startedData) conditions() []metav1.Condition {
	if len(d.pending) == 0 {
		return nil
	}
	var names []string
	for _, entry := range d.pending[:min(len(d.pending), maxNamed)] {
		names = append(names, entry.Kind+" "+entry.Name)
	}
	if more := len(d.pending) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return []metav1.Condition{{
		Type: v1alpha.ConditionDataCurrent, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonRestartPending,
		Message: "newer data waits for a restart: " + strings.Join(names, ", "),
	}}
}
