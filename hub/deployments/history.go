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
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// history are the templates that a Workload has had, as WorkloadRevisions in its project. A project that does not serve them has
// no history, and its rollouts are otherwise the same.
type history struct {
	client client.Client
	// reader reads from the API server.
	reader   client.Reader
	workload *v1alpha.Workload
	// written is the hash of the template of the Workload.
	written string
	// first: the template is the Workload's first one, and is not recorded yet.
	first bool
}

// record records the template of the Workload, once per change of it, and returns its number, which status.rollout stores; 0:
// it has none. The templates of deployments that are not in the history are older than the history.
func (h *history) record(ctx context.Context, deployments map[string]*v1alpha.WorkloadDeployment) (int64, error) {
	if h.workload.Status.Rollout == nil && h.workload.Generation == 1 {
		// The spec has never changed: there is no history to read, and the template is stored before the status that has its number.
		h.first = true
		return 1, nil
	}
	own, err := h.own(ctx)
	if h.lacks(err) {
		logNoHistory(ctx, err)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	newest := int64(0)
	for i := range own {
		newest = max(newest, own[i].Spec.Revision)
	}
	for _, template := range h.unrecorded(own, deployments) {
		newest++
		if err := h.store(ctx, template, newest); err != nil {
			return 0, err
		}
	}
	name := h.nameOf(h.written)
	if slices.ContainsFunc(own, func(r v1alpha.WorkloadRevision) bool { return r.Name == name && r.Spec.Revision == newest }) {
		return newest, nil
	}
	newest++
	if err := h.store(ctx, &h.workload.Spec.Template, newest); err != nil {
		return 0, err
	}
	return newest, h.prune(ctx, own)
}

// lacks reports whether the Workload has no history by an answer of its project, which does not serve the kind or does not let
// the add-on use it. Recorded revisions may still exist.
func (h *history) lacks(answer error) bool {
	recorded := h.workload.Status.Rollout != nil && h.workload.Status.Rollout.Revision > 0
	return !recorded && (apierrors.IsForbidden(answer) || wire.IsUnserved(answer))
}

func logNoHistory(ctx context.Context, answer error) {
	log.FromContext(ctx).Info("The Workload has no history: apply CRD workloadrevisions.compute.datumapis.com, "+
		"and let the add-on write WorkloadRevisions", "answer", answer.Error())
}

// storeFirst records the first template of a Workload, before the status that has its number is written: the
// deployments do not wait for it.
func (h *history) storeFirst(ctx context.Context, status *v1alpha.WorkloadStatus) error {
	if !h.first {
		return nil
	}
	err := h.store(ctx, &h.workload.Spec.Template, status.Rollout.Revision)
	if h.lacks(err) {
		logNoHistory(ctx, err)
		status.Rollout.Revision = 0
		return nil
	}
	return err
}

// own returns the Workload's revisions. It deletes revisions of an earlier Workload of its name that have no
// owner: a restore from a backup has created them again.
func (h *history) own(ctx context.Context) ([]v1alpha.WorkloadRevision, error) {
	var list v1alpha.WorkloadRevisionList
	err := h.reader.List(ctx, &list, client.InNamespace(h.workload.Namespace),
		client.MatchingLabels{v1alpha.LabelWorkloadName: h.workload.Name})
	if err != nil {
		return nil, fmt.Errorf("list the Workload's revisions: %w", err)
	}
	var own, orphans []v1alpha.WorkloadRevision
	for i := range list.Items {
		switch revision := list.Items[i]; {
		case revision.Labels[v1alpha.LabelWorkloadUID] == string(h.workload.UID):
			own = append(own, revision)
		case len(revision.OwnerReferences) == 0 && revision.Name != h.nameOf(h.written):
			orphans = append(orphans, revision)
		}
	}
	return own, h.delete(ctx, orphans)
}

// unrecorded returns the templates of deployments that are not in the recorded revisions.
func (h *history) unrecorded(
	recorded []v1alpha.WorkloadRevision, deployments map[string]*v1alpha.WorkloadDeployment,
) []*v1alpha.InstanceTemplateSpec {
	known := map[string]bool{h.written: true}
	for i := range recorded {
		known[recorded[i].Name] = true
	}
	var result []*v1alpha.InstanceTemplateSpec
	// Also of deployments that the Workload no longer wants: it may leave its only city with the change.
	for _, name := range slices.Sorted(maps.Keys(deployments)) {
		existing := deployments[name]
		// A template that cannot be hashed has no Instances.
		hash, err := templates.Hash(&existing.Spec.Template)
		if name := h.nameOf(hash); err == nil && !known[name] && !known[hash] {
			known[name] = true
			result = append(result, &existing.Spec.Template)
		}
	}
	return result
}

func (h *history) nameOf(hash string) string {
	return naming.Revision(h.workload.Name, hash)
}

// maxCause is the largest cause of a change that a revision keeps.
const maxCause = 1024

// store writes a template under a number, and the cause of the change if the template is the Workload's.
func (h *history) store(ctx context.Context, template *v1alpha.InstanceTemplateSpec, number int64) error {
	hash, err := templates.Hash(template)
	if err != nil {
		return err
	}
	written, data := templates.WithoutSnapshots(template)
	var annotations map[string]string
	if cause := h.workload.Annotations[v1alpha.AnnotationChangeCause]; cause != "" && hash == h.written {
		annotations = map[string]string{v1alpha.AnnotationChangeCause: reasons.Shorten(cause, maxCause)}
	}
	_, err = apply.Object(ctx, h.client, FieldManager, &v1alpha.WorkloadRevision{
		ObjectMeta: metav1.ObjectMeta{
			Annotations: annotations,
			Name:        h.nameOf(hash), Namespace: h.workload.Namespace, OwnerReferences: []metav1.OwnerReference{h.workload.ControllerReference()},
			Labels: map[string]string{v1alpha.LabelWorkloadUID: string(h.workload.UID), v1alpha.LabelWorkloadName: h.workload.Name},
		},
		Spec: v1alpha.WorkloadRevisionSpec{Revision: number, Template: *written, Data: data},
	})
	return err
}

// prune deletes the oldest revisions beyond the limit. revisions do not include the newest one. The last
// complete template is kept: a failed rollout returns to it.
func (h *history) prune(ctx context.Context, revisions []v1alpha.WorkloadRevision) error {
	keep := []string{h.nameOf(h.written)}
	if before := h.workload.Status.Rollout; before != nil && before.CompleteTemplateHash != "" {
		keep = append(keep, h.nameOf(before.CompleteTemplateHash))
	}
	slices.SortFunc(revisions, func(a, b v1alpha.WorkloadRevision) int { return cmp.Compare(b.Spec.Revision, a.Spec.Revision) })
	left := h.workload.Spec.Rollout.HistoryLimit()
	var surplus []v1alpha.WorkloadRevision
	for i := range revisions {
		revision := &revisions[i]
		if revision.Name == h.nameOf(h.written) {
			continue
		}
		if left--; left < 0 && !slices.Contains(keep, revision.Name) {
			surplus = append(surplus, *revision)
		}
	}
	return h.delete(ctx, surplus)
}

func (h *history) delete(ctx context.Context, revisions []v1alpha.WorkloadRevision) error {
	for i := range revisions {
		revision := &revisions[i]
		if err := h.client.Delete(ctx, revision, client.Preconditions{UID: &revision.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete revision %s: %w", revision.Name, err)
		}
	}
	return nil
}

// withHash returns the template of a revision; nil without one.
func (h *history) withHash(ctx context.Context, hash string) (*v1alpha.InstanceTemplateSpec, error) {
	revision, name := &v1alpha.WorkloadRevision{}, h.nameOf(hash)
	err := h.reader.Get(ctx, client.ObjectKey{Namespace: h.workload.Namespace, Name: name}, revision)
	switch {
	case wire.IsMissing(err, name) || h.lacks(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the last complete revision: %w", err)
	case revision.Labels[v1alpha.LabelWorkloadUID] != string(h.workload.UID):
		return nil, nil
	}
	return templates.WithSnapshots(&revision.Spec.Template, revision.Spec.Data), nil
}
