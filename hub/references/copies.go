// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// writeCopies writes the hub's copies of the objects that can be copied and that a deployment on the hub needs.
func (s *scope) writeCopies(ctx context.Context) error {
	var failed []error
	for _, o := range inOrder(maps.Values(s.objects)) {
		if o.reason != "" || !o.wanted || len(o.owners) == 0 {
			continue
		}
		var err error
		if o.present = s.isCurrent(o); !o.present {
			err = s.writeCopy(ctx, o)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("copy %s %s of namespace %s to the hub: %w", o.Kind, o.Name, s.namespace, withoutContent(err)))
		}
	}
	return errors.Join(failed...)
}

// isCurrent reports whether the copy is known to match its original, without reading any contents.
func (s *copier) isCurrent(o *object) bool {
	copied := s.copies[o.item]
	desired := &metav1.PartialObjectMetadata{ObjectMeta: s.copyMetadata(o)}
	if isSnapshot(copied) {
		return sameMetadata(copied, desired)
	}
	return copied != nil && s.sources.lastCheck(o.item).copied == version(copied) && sameMetadata(copied, desired)
}

func (s *facts) copyMetadata(o *object) metav1.ObjectMeta {
	result := metav1.ObjectMeta{
		Namespace: o.hubNamespace, Name: o.Name, Labels: s.origin.Labels(), Annotations: s.origin.Annotations(), OwnerReferences: o.owners,
	}
	if _, ok := templates.ParseSnapshot(o.DataObject); ok {
		result.Labels[v1alpha.LabelSnapshot] = strconv.Itoa(o.bytes)
	}
	return result
}

// writeCopy updates the copy to the present original.
func (s *copier) writeCopy(ctx context.Context, o *object) error {
	if dataVersion, ok := templates.ParseSnapshot(o.DataObject); ok {
		return s.writeSnapshot(ctx, o, dataVersion)
	}
	// First by the size that is known: an object that does not fit is not read each time.
	if fits, err := s.fits(ctx, o); !fits {
		return err
	}
	source, found, err := s.read(ctx, o)
	if err != nil {
		return err
	}
	// The original may have changed since it was checked; the condition shows its present state.
	if o.finding = found; found.reason != "" {
		return nil
	}
	if fits, err := s.fits(ctx, o); !fits {
		return err
	}
	key, err := s.keyOf(ctx, o.DataObject)
	if err != nil {
		return err
	}
	desired, copied := desiredCopy(source, s.copyMetadata(o)), newObject(o.Kind)
	err = s.APIReader.Get(ctx, o.onHub(), copied)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	markContent(desired, copied, key)
	switch {
	case err != nil:
	case !projects.IsMarked(copied):
		o.finding = foreign(o.item)
		s.requeueAfter.AtMost(refusedRetry)
		return nil
	case !copied.GetDeletionTimestamp().IsZero():
		// The deletion event of the old copy requeues the namespace.
		return nil
	case sameCopy(copied, desired):
		s.recordMatch(o, source, copied)
		return nil
	case mustBeRecreated(copied, desired):
		return s.deleteCopy(ctx, copied)
	}
	s.sources.noteChange(o.hubNamespace)
	stored, err := s.applyCopy(ctx, desired)
	if err != nil {
		return err
	}
	s.recordMatch(o, source, stored)
	return nil
}

// applyCopy applies a copy, and removes fields that others have added.
func (s *copier) applyCopy(ctx context.Context, desired client.Object) (client.Object, error) {
	stored, err := apply.Object(ctx, s.Hub, FieldManager, desired)
	if err != nil || sameCopy(stored, desired) {
		return stored, err
	}
	held := contentOf(desired)
	values := map[string]any{"/metadata/ownerReferences": desired.GetOwnerReferences()}
	if kindOf(desired) == templates.KindSecret {
		values["/data"] = held.binary
	} else {
		values["/data"], values["/binaryData"] = held.text, held.binary
	}
	return stored, apply.Replace(ctx, s.Hub, FieldManager, stored, values)
}

// recordMatch records that a copy matches this version of its original.
func (s *copier) recordMatch(o *object, source, copied client.Object) {
	s.sources.remember(o.item, check{source: version(source), finding: o.finding, copied: version(copied)})
	s.sources.account.record(s.namespace, o.item, contentOf(copied).size())
}

// deleteCopies deletes the copies that no deployment names any more, and the copies whose originals are gone: a user
// who deletes a Secret expects it to be deleted everywhere. After any other problem of an original, its copy remains as
// it is. So do the copies of a project that Milo does not have: its control plane answers as if it were empty.
func (s *scope) deleteCopies(ctx context.Context) error {
	var failed []error
	for hubNamespace := range s.hubNamespaces {
		unnamed := s.unnamedCopies(hubNamespace)
		if len(unnamed) == 0 {
			continue
		}
		awaited, err := s.awaitedOwners(ctx, hubNamespace)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		unnamed = slices.DeleteFunc(unnamed, func(copied *metav1.PartialObjectMetadata) bool { return ownedBy(copied, awaited) })
		if len(unnamed) == 0 {
			continue
		}
		answer, err := s.Owners.Verdict(ctx, ownership.Key{Project: s.origin.Project, ProjectUID: s.origin.ProjectUID})
		failed = append(failed, err)
		if answer.Verdict != ownership.Wanted {
			continue
		}
		for _, copied := range unnamed {
			failed = append(failed, s.deleteCopy(ctx, copied))
		}
	}
	return errors.Join(failed...)
}

// unnamedCopies returns the copies in a hub namespace that no deployment of the project needs, except for copies that
// are being deleted.
func (s *facts) unnamedCopies(hubNamespace string) []*metav1.PartialObjectMetadata {
	var unnamed []*metav1.PartialObjectMetadata
	for i, copied := range s.copies {
		if i.hubNamespace == hubNamespace && !keeps(s.objects[i]) && copied.DeletionTimestamp.IsZero() {
			unnamed = append(unnamed, copied)
		}
	}
	slices.SortFunc(unnamed, func(a, b *metav1.PartialObjectMetadata) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return unnamed
}

// awaitedOwners returns the UIDs of the hub's deployments without an original in the project. Until an original that
// was deleted by mistake is recreated, its Instances keep running with their data; otherwise hub/propagation deletes
// the hub's deployment, and the garbage collector the copies that it owned.
func (s *scope) awaitedOwners(ctx context.Context, hubNamespace string) (map[types.UID]bool, error) {
	var list v1alpha.WorkloadDeploymentList
	if err := s.Hub.List(ctx, &list, client.InNamespace(hubNamespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the hub's deployments: %w", err)
	}
	hasOriginal := map[string]bool{}
	for _, d := range s.deployments {
		if d.hubNamespace == hubNamespace {
			hasOriginal[d.original.Name] = true
		}
	}
	awaited := map[types.UID]bool{}
	for i := range list.Items {
		onHub := &list.Items[i]
		if !hasOriginal[onHub.Name] && onHub.DeletionTimestamp.IsZero() {
			awaited[onHub.UID] = true
		}
	}
	return awaited, nil
}

func ownedBy(copied client.Object, owners map[types.UID]bool) bool {
	return slices.ContainsFunc(copied.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return owners[o.UID] })
}

// deleteCopy deletes a copy, but not a later object of the same name.
func (s *copier) deleteCopy(ctx context.Context, copied client.Object) error {
	s.sources.noteChange(copied.GetNamespace())
	uid := copied.GetUID()
	err := s.Hub.Delete(ctx, copied, client.Preconditions{UID: &uid})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete the hub's copy %s: %w", client.ObjectKeyFromObject(copied), withoutContent(err))
	}
	return nil
}

// opaque is an error of an API server that shows only its code and reason: the text of such an error may quote the
// contents of an object.
type opaque struct{ error }

func (o opaque) Error() string {
	var status apierrors.APIStatus
	if errors.As(o.error, &status) {
		return fmt.Sprintf("the API server answered %d %s", status.Status().Code, apierrors.ReasonForError(o.error))
	}
	return o.error.Error()
}

func (o opaque) Unwrap() error { return o.error }

func withoutContent(err error) error {
	if err == nil {
		return nil
	}
	return opaque{err}
}
