// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// recordRevision records the template of the Workload in its history, once per change of it: status.rollout stores the
// number. A project that does not serve WorkloadRevisions has no history, and its rollouts are otherwise the same.
func (s *scope) recordRevision(ctx context.Context) error {
	if before := s.workload.Status.Rollout; before != nil && before.TemplateHash == s.rolling.Written {
		s.rolling.revision = before.Revision
		return nil
	}
	if !s.isRecordable() {
		return nil
	}
	if s.workload.Status.Rollout == nil && s.workload.Generation == 1 {
		// The spec has never changed: there is no history to read, and storeFirst stores the template.
		s.rolling.revision, s.rolling.first = 1, true
		return nil
	}
	history, err := s.ownRevisions(ctx)
	if s.lacksHistory(err) {
		logNoHistory(ctx, err)
		return nil
	}
	if err != nil {
		return err
	}
	newest := int64(0)
	for i := range history {
		newest = max(newest, history[i].Spec.Revision)
	}
	for _, template := range s.unrecorded(history) {
		if newest++; err == nil {
			err = s.storeRevision(ctx, template, newest)
		}
	}
	if err != nil {
		return err
	}
	own := s.revisionName(s.rolling.Written)
	at := slices.IndexFunc(history, func(r v1alpha.WorkloadRevision) bool { return r.Name == own })
	if s.rolling.revision = newest; at >= 0 && history[at].Spec.Revision == newest {
		return nil
	}
	s.rolling.revision++
	if err := s.storeRevision(ctx, &s.workload.Spec.Template, s.rolling.revision); err != nil {
		return err
	}
	return s.pruneRevisions(ctx, history)
}

// isRecordable reports whether the Workload has its own template in memory, with its data.
func (s *scope) isRecordable() bool {
	return s.rolling.Target == s.rolling.Written && len(s.unread) == 0
}

// lacksHistory reports whether the Workload has no history by an answer of its project, which does not serve the kind or does not let
// the add-on use it. Recorded revisions may still exist.
func (s *scope) lacksHistory(answer error) bool {
	recorded := s.workload.Status.Rollout != nil && s.workload.Status.Rollout.Revision > 0
	return !recorded && (apierrors.IsForbidden(answer) || wire.IsUnserved(answer))
}

func logNoHistory(ctx context.Context, answer error) {
	log.FromContext(ctx).Info("The Workload has no history: apply CRD workloadrevisions.compute.datumapis.com, "+
		"and let the add-on write WorkloadRevisions", "answer", answer.Error())
}

// storeFirst records the first template of a Workload, before the status that has its number is written: the
// deployments do not wait for it.
func (s *scope) storeFirst(ctx context.Context, status *v1alpha.WorkloadStatus) error {
	if !s.rolling.first {
		return nil
	}
	err := s.storeRevision(ctx, &s.workload.Spec.Template, s.rolling.revision)
	if s.lacksHistory(err) {
		logNoHistory(ctx, err)
		status.Rollout.Revision = 0
		return nil
	}
	return err
}

// ownRevisions returns the Workload's revisions. It deletes revisions of an earlier Workload of its name that have no
// owner: a restore from a backup has created them again.
func (s *scope) ownRevisions(ctx context.Context) ([]v1alpha.WorkloadRevision, error) {
	var list v1alpha.WorkloadRevisionList
	err := s.project.GetAPIReader().List(ctx, &list, client.InNamespace(s.workload.Namespace),
		client.MatchingLabels{v1alpha.LabelWorkloadName: s.workload.Name})
	if err != nil {
		return nil, fmt.Errorf("list the Workload's revisions: %w", err)
	}
	var own, orphans []v1alpha.WorkloadRevision
	for i := range list.Items {
		switch revision := list.Items[i]; {
		case revision.Labels[v1alpha.LabelWorkloadUID] == string(s.workload.UID):
			own = append(own, revision)
		case len(revision.OwnerReferences) == 0 && revision.Name != s.revisionName(s.rolling.Written):
			orphans = append(orphans, revision)
		}
	}
	return own, s.deleteRevisions(ctx, orphans)
}

// unrecorded returns the templates of deployments that are not in the history: they are older than the history.
func (s *scope) unrecorded(history []v1alpha.WorkloadRevision) []*v1alpha.InstanceTemplateSpec {
	known := map[string]bool{s.rolling.Written: true}
	for i := range history {
		known[history[i].Name] = true
	}
	var result []*v1alpha.InstanceTemplateSpec
	// Also of deployments that the Workload no longer wants: it may leave its only city with the change.
	for _, name := range slices.Sorted(maps.Keys(s.existing)) {
		existing := s.existing[name]
		// A template that cannot be hashed has no Instances.
		hash, err := templates.Hash(&existing.Spec.Template)
		if name := s.revisionName(hash); err == nil && !known[name] && !known[hash] {
			known[name] = true
			result = append(result, &existing.Spec.Template)
		}
	}
	return result
}

func (s *scope) revisionName(hash string) string {
	return naming.Revision(s.workload.Name, hash)
}

// storeRevision writes a template under a number.
func (s *scope) storeRevision(ctx context.Context, template *v1alpha.InstanceTemplateSpec, number int64) error {
	hash, err := templates.Hash(template)
	if err != nil {
		return err
	}
	written, data := templates.WithoutSnapshots(template)
	_, err = apply.Object(ctx, s.client, FieldManager, &v1alpha.WorkloadRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: s.revisionName(hash), Namespace: s.workload.Namespace, OwnerReferences: []metav1.OwnerReference{s.workload.ControllerReference()},
			Labels: map[string]string{v1alpha.LabelWorkloadUID: string(s.workload.UID), v1alpha.LabelWorkloadName: s.workload.Name},
		},
		Spec: v1alpha.WorkloadRevisionSpec{Revision: number, Template: *written, Data: data},
	})
	return err
}

// pruneRevisions deletes the oldest revisions beyond the limit. history does not include the newest one. The last
// complete template is kept: a failed rollout returns to it.
func (s *scope) pruneRevisions(ctx context.Context, history []v1alpha.WorkloadRevision) error {
	keep := []string{s.revisionName(s.rolling.Written)}
	if before := s.workload.Status.Rollout; before != nil && before.CompleteTemplateHash != "" {
		keep = append(keep, s.revisionName(before.CompleteTemplateHash))
	}
	slices.SortFunc(history, func(a, b v1alpha.WorkloadRevision) int { return cmp.Compare(b.Spec.Revision, a.Spec.Revision) })
	left := s.workload.Spec.Rollout.HistoryLimit()
	var surplus []v1alpha.WorkloadRevision
	for i := range history {
		revision := &history[i]
		if revision.Name == s.revisionName(s.rolling.Written) {
			continue
		}
		if left--; left < 0 && !slices.Contains(keep, revision.Name) {
			surplus = append(surplus, *revision)
		}
	}
	return s.deleteRevisions(ctx, surplus)
}

func (s *scope) deleteRevisions(ctx context.Context, revisions []v1alpha.WorkloadRevision) error {
	for i := range revisions {
		revision := &revisions[i]
		if err := s.client.Delete(ctx, revision, client.Preconditions{UID: &revision.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete revision %s: %w", revision.Name, err)
		}
	}
	return nil
}

// revisionWithHash returns the template of a revision; nil without one.
func (s *scope) revisionWithHash(ctx context.Context, hash string) (*v1alpha.InstanceTemplateSpec, error) {
	revision, name := &v1alpha.WorkloadRevision{}, s.revisionName(hash)
	err := s.project.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: s.workload.Namespace, Name: name}, revision)
	switch {
	case wire.IsMissing(err, name) || s.lacksHistory(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the last complete revision: %w", err)
	case revision.Labels[v1alpha.LabelWorkloadUID] != string(s.workload.UID):
		return nil, nil
	}
	return templates.WithSnapshots(&revision.Spec.Template, revision.Spec.Data), nil
}
