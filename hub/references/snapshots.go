// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/references/choice"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// contentHash is the newest content of an object in the project, by its hash.
type contentHash struct {
	// version of the object; "": it does not exist, or could not be read.
	version string
	// hash is "" if finding has a reason.
	hash string
	finding
}

// newest returns the newest content of an object in the project. It reads the content only if its version differs from
// the last one that was read.
func (s *originals) newest(ctx context.Context, dataObject templates.DataObject) (contentHash, error) {
	o := &object{item: item{DataObject: dataObject}}
	if reader := s.sources.reader(dataObject.Kind); reader != nil {
		metadata := metadataOf(dataObject.Kind)
		switch err := reader.Get(ctx, o.nameIn(s.namespace), metadata); {
		case apierrors.IsNotFound(err):
			return contentHash{finding: missing(dataObject.Kind, dataObject.Name, s.namespace)}, nil
		case err != nil:
			return contentHash{}, err
		}
		if last := s.sources.lastNewest(s.namespace, dataObject); last.version == version(metadata) {
			return last, nil
		}
	} else {
		s.requeueAfter.AtMost(unwatchedRetry)
	}
	source, found, err := s.read(ctx, o)
	if err != nil || source == nil {
		return contentHash{finding: found}, err
	}
	result := contentHash{version: version(source), finding: found}
	if found.reason == "" {
		result.hash, err = s.hashOf(ctx, dataObject, source)
	}
	return result, err
}

// includeSnapshots adds the snapshots of a Workload's data to the objects, in each hub namespace of its deployments.
func (s *facts) includeSnapshots(workload types.UID, data []v1alpha.DataVersion) {
	for _, d := range s.deployments {
		if !s.hubNamespaces[d.hubNamespace] || d.original.Labels[v1alpha.LabelWorkloadUID] != string(workload) {
			continue
		}
		for _, dataVersion := range data {
			if dataVersion.Hash != templates.AbsentData {
				s.include(snapshotItem(d.hubNamespace, dataVersion), workload)
			}
		}
	}
}

// include adds a snapshot that a Workload needs.
func (s *facts) include(i item, workload types.UID) {
	if s.objects[i] == nil {
		s.objects[i] = &object{item: i}
	}
	o := s.objects[i]
	o.wanted = true
	o.workloads = append(o.workloads, workload)
}

func snapshotItem(hubNamespace string, dataVersion v1alpha.DataVersion) item {
	return item{hubNamespace, templates.DataObject{Kind: dataVersion.Kind, Name: templates.SnapshotName(dataVersion.Name, dataVersion.Hash)}}
}

// hasSnapshot reports whether a content is kept on the hub, or may be.
func (s *facts) hasSnapshot(dataVersion v1alpha.DataVersion) bool {
	for hubNamespace := range s.hubNamespaces {
		if entry := snapshotItem(hubNamespace, dataVersion); s.unlisted[entry.listed()] || isSnapshot(s.copies[entry]) {
			return true
		}
	}
	return false
}

func isSnapshot(copied *metav1.PartialObjectMetadata) bool {
	return copied != nil && copied.DeletionTimestamp.IsZero() && copied.Labels[v1alpha.LabelSnapshot] != ""
}

// bytesOf returns the size of a snapshot, by its label.
func bytesOf(copied *metav1.PartialObjectMetadata) int {
	bytes, err := strconv.Atoi(copied.Labels[v1alpha.LabelSnapshot])
	if err != nil {
		return 0
	}
	return min(max(bytes, 0), maxObject)
}

// ownSnapshots sets the owners of snapshots: all deployments of their Workloads on the hub, because the history of a
// Workload outlives the deployment of a city.
func (s *facts) ownSnapshots(context.Context) error {
	for _, o := range s.objects {
		if _, ok := templates.ParseSnapshot(o.DataObject); !ok {
			continue
		}
		owners := map[string]metav1.OwnerReference{}
		for _, d := range s.deployments {
			if d.hubNamespace == o.hubNamespace && d.copied != nil &&
				slices.Contains(o.workloads, types.UID(d.original.Labels[v1alpha.LabelWorkloadUID])) {
				owners[d.copied.Name] = d.copied.OwnerReference()
			}
		}
		o.owners = slices.SortedFunc(maps.Values(owners), func(a, b metav1.OwnerReference) int { return strings.Compare(a.Name, b.Name) })
	}
	return nil
}

// keepHistory keeps the snapshots that no deployment names, but a revision of a Workload: the ones of the last complete
// revision, and of the newest others within the bounds. The history is read only if there are such snapshots. Without it all of
// them are kept.
func (s *scope) keepHistory(ctx context.Context) error {
	left := s.unneeded()
	if len(left) == 0 {
		return nil
	}
	history, err := s.history(ctx)
	if err != nil {
		for i := range left {
			s.objects[i] = &object{item: i, unknown: true}
		}
		return err
	}
	s.keep(history, left)
	return nil
}

// unneeded returns the snapshots on the hub that nothing but the history can need.
func (s *facts) unneeded() map[item]*metav1.PartialObjectMetadata {
	left := map[item]*metav1.PartialObjectMetadata{}
	for i, copied := range s.copies {
		if s.objects[i] == nil && isSnapshot(copied) {
			left[i] = copied
		}
	}
	return left
}

// keep includes the snapshots of a history until a bound is reached.
func (s *facts) keep(history []choice.Revision, left map[item]*metav1.PartialObjectMetadata) {
	snapshots := choice.Snapshots[item]{Bytes: map[item]int{}, Of: func(dataVersion v1alpha.DataVersion) []item {
		var items []item
		for _, hubNamespace := range slices.Sorted(maps.Keys(s.hubNamespaces)) {
			items = append(items, snapshotItem(hubNamespace, dataVersion))
		}
		return items
	}}
	for i, copied := range left {
		snapshots.Bytes[i] = bytesOf(copied)
	}
	choice.Keep(history, snapshots, s.include)
}

// history returns the data of all revisions of the namespace's Workloads, and of their present choices.
func (s *originals) history(ctx context.Context) ([]choice.Revision, error) {
	var workloads v1alpha.WorkloadList
	if err := s.projectAPI.List(ctx, &workloads, client.InNamespace(s.namespace)); err != nil {
		return nil, fmt.Errorf("list the project's Workloads: %w", err)
	}
	complete, recorded := map[string]bool{}, false
	var result []choice.Revision
	for i := range workloads.Items {
		w := &workloads.Items[i]
		if r := w.Status.Rollout; r != nil {
			complete[naming.Revision(w.Name, r.CompleteTemplateHash)] = true
			recorded = recorded || r.Revision > 0
		}
		if w.Status.Data != nil {
			// What another replica has chosen, or this one a moment ago, may not be in the cache.
			result = append(result, choice.Revision{Workload: w.UID, Complete: true, Data: w.Status.Data.Objects})
		}
	}
	var list v1alpha.WorkloadRevisionList
	switch err := s.projectAPI.List(ctx, &list, client.InNamespace(s.namespace)); {
	case wire.IsUnserved(err) && !recorded:
		// The project has never had a history.
		return result, nil
	case err != nil:
		return nil, fmt.Errorf("list the revisions of the project's Workloads: %w", err)
	}
	for i := range list.Items {
		r := &list.Items[i]
		result = append(result, choice.Revision{
			Workload: types.UID(r.Labels[v1alpha.LabelWorkloadUID]), Number: r.Spec.Revision, Complete: complete[r.Name], Data: r.Spec.Data,
		})
	}
	return result, nil
}

// checkSnapshot determines whether a snapshot exists, or can be written: the object in the project still has its content.
func (s *copier) checkSnapshot(ctx context.Context, o *object, dataVersion v1alpha.DataVersion) (finding, error) {
	original := templates.DataObject{Kind: dataVersion.Kind, Name: dataVersion.Name}
	switch copied := s.copies[o.item]; {
	case dataVersion.Hash == templates.AbsentData:
		return missing(dataVersion.Kind, dataVersion.Name, s.namespace), nil
	case isSnapshot(copied):
		return finding{bytes: bytesOf(copied)}, nil
	}
	now, err := s.newest(ctx, original)
	if err != nil || now.hash == dataVersion.Hash {
		return now.finding, err
	}
	return snapshotGone(dataVersion), nil
}

func snapshotGone(dataVersion v1alpha.DataVersion) finding {
	return finding{reason: v1alpha.ReasonSnapshotGone, message: fmt.Sprintf(
		"content %s of %s %s is no longer kept; roll out the present content, or roll back to another revision", dataVersion.Hash,
		dataVersion.Kind, dataVersion.Name)}
}

// writeSnapshot writes a snapshot from the object in the project, or corrects the metadata of an existing one.
func (s *copier) writeSnapshot(ctx context.Context, o *object, dataVersion v1alpha.DataVersion) error {
	if fits, err := s.fits(ctx, o); !fits {
		return err
	}
	copied := newObject(o.Kind)
	source := copied
	switch err := s.APIReader.Get(ctx, o.onHub(), copied); {
	case apierrors.IsNotFound(err):
		if source, err = s.sourceOf(ctx, o, dataVersion); err != nil || source == nil {
			return err
		}
	case err != nil:
		return err
	case !projects.IsMarked(copied) || !isImmutable(copied):
		o.finding = foreign(o.item)
		s.requeueAfter.AtMost(refusedRetry)
		return nil
	case !copied.GetDeletionTimestamp().IsZero():
		// The deletion event of the old copy requeues the namespace.
		return nil
	}
	o.bytes = contentOf(source).size()
	desired := immutable(desiredCopy(source, s.copyMetadata(o)))
	s.sources.noteChange(o.hubNamespace)
	stored, err := s.applyCopy(ctx, desired)
	if err != nil {
		return err
	}
	o.present = true
	s.sources.account.record(s.namespace, o.item, contentOf(stored).size())
	return nil
}

// sourceOf reads the object of the project that a snapshot is written from; nil: it has another content by now.
func (s *originals) sourceOf(ctx context.Context, o *object, dataVersion v1alpha.DataVersion) (client.Object, error) {
	original := templates.DataObject{Kind: dataVersion.Kind, Name: dataVersion.Name}
	source, found, err := s.read(ctx, &object{item: item{DataObject: original}})
	if err == nil && source != nil && found.reason == "" {
		var hash string
		if hash, err = s.hashOf(ctx, original, source); hash == dataVersion.Hash {
			return source, err
		}
	}
	if err != nil {
		return nil, err
	}
	o.finding = snapshotGone(dataVersion)
	s.requeueAfter.AtMost(engageRetry)
	return nil, nil
}

// snapshotsOf reports whether the snapshots of the data of a Workload are on the hub, or there is no deployment on the hub
// that could own them, and why not.
func (s *facts) snapshotsOf(w *workload) (found []finding, ready bool) {
	if w.data == nil {
		return nil, true
	}
	ready = true
	distinct := sets.New[finding]()
	for _, d := range s.deployments {
		if d.copied == nil || d.original.Labels[v1alpha.LabelWorkloadUID] != string(w.UID) {
			continue
		}
		for _, dataVersion := range w.data.Objects {
			o := s.objects[snapshotItem(d.hubNamespace, dataVersion)]
			if o == nil || o.present || dataVersion.Hash == templates.AbsentData {
				continue
			}
			if ready = false; o.reason != "" && o.reason != v1alpha.ReasonSnapshotGone && !o.unknown {
				distinct.Insert(o.finding)
			}
		}
	}
	// The cache lists the deployments in any order.
	return slices.SortedFunc(maps.Keys(distinct), func(a, b finding) int {
		return cmp.Or(strings.Compare(a.reason, b.reason), strings.Compare(a.message, b.message))
	}), ready
}
