// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// manifest is the part of a manifest in a Work that is kept in the cache.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Namespace   string      `json:"namespace"`
		Name        string      `json:"name"`
		Labels      labels      `json:"labels"`
		Annotations annotations `json:"annotations"`
	} `json:"metadata"`
	Spec digest `json:"spec"`
}

// digest is of the spec of a deployment, without the replicas, which Karmada divides among the cells.
type digest string

// invalid is the digest of an invalid spec.
const invalid digest = "invalid"

// UnmarshalJSON computes the digest of a spec, and keeps an existing digest. It never fails.
func (d *digest) UnmarshalJSON(raw []byte) error {
	var before string
	if json.Unmarshal(raw, &before) == nil {
		*d = digest(before)
		return nil
	}
	spec := &v1alpha.WorkloadDeploymentSpec{}
	if *d = invalid; json.Unmarshal(raw, spec) == nil {
		*d = digestOf(spec)
	}
	return nil
}

func digestOf(spec *v1alpha.WorkloadDeploymentSpec) digest {
	divided := *spec
	divided.Replicas = nil
	encoded, err := json.Marshal(&divided)
	if err != nil {
		return invalid
	}
	return digest(hashOf(encoded))
}

func hashOf(encoded []byte) string {
	hasher := fnv.New64a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write(encoded)
	return strconv.FormatUint(hasher.Sum64(), 36)
}

// labels are the labels that identify the deployment's owner.
type labels struct {
	ProjectNamespace string `json:"meta.datumapis.com/upstream-namespace,omitempty"`
	WorkloadUID      string `json:"compute.datumapis.com/workload-uid,omitempty"`
}

// annotations are the annotations that identify the deployment's project, and the copy that the Work is based on.
type annotations struct {
	Project            string `json:"compute.datumapis.com/project,omitempty"`
	TemplateGeneration string `json:"resourcetemplate.karmada.io/generation,omitempty"`
	TemplateUID        string `json:"resourcetemplate.karmada.io/uid,omitempty"`
}

// subresourceStatus is the subresource with which Karmada writes reports.
const subresourceStatus = "status"

// reportedAt returns when the hub has last stored another status of a Work, trimmed or not; zero: that is not known.
func reportedAt(work *workv1alpha1.Work) (at metav1.Time) {
	for i := range work.ManagedFields {
		if entry := &work.ManagedFields[i]; entry.Subresource == subresourceStatus && at.Before(entry.Time) {
			at = *entry.Time
		}
	}
	return at
}

// manifestOf returns the manifest of a Work, trimmed or not, if it is a WorkloadDeployment.
func manifestOf(work *workv1alpha1.Work) (manifest, bool) {
	return manifestOfKind(work, v1alpha.KindWorkloadDeployment)
}

func manifestOfKind(work *workv1alpha1.Work, kind string) (manifest, bool) {
	var m manifest
	if len(work.Spec.Workload.Manifests) != 1 {
		return m, false
	}
	raw := work.Spec.Workload.Manifests[0].Raw
	// Most Works of a hub are not the add-on's, and decoding is expensive.
	if !bytes.Contains(raw, []byte(kind)) || json.Unmarshal(raw, &m) != nil {
		return m, false
	}
	return m, m.Kind == kind && m.APIVersion == v1alpha.GroupVersion.String()
}

const (
	// maxOwn is the most bytes of what a Work of the add-on carries, and of its report: they carry little.
	maxOwn = 16 << 10
	// maxCell is the same of the Work of a Cell, of which each cell has one.
	maxCell = 1 << 20
)

// TrimWorkOf is TrimWork where the Works of Cells have this name. Every user who may write Works can label any number of them as ours.
func TrimWorkOf(cellWork string, object any) (any, error) {
	work, ok := object.(*workv1alpha1.Work)
	if !ok {
		return object, nil
	}
	size, limit := 0, maxOwn
	if work.Name == cellWork {
		limit = maxCell
	}
	for i := range work.Spec.Workload.Manifests {
		size += len(work.Spec.Workload.Manifests[i].Raw)
	}
	for i := range work.Status.ManifestStatuses {
		if status := work.Status.ManifestStatuses[i].Status; status != nil {
			size += len(status.Raw)
		}
	}
	for i := range work.Status.Conditions {
		size += len(work.Status.Conditions[i].Message)
	}
	if isOwn(work) && size > limit {
		return watch.Identity(work, &workv1alpha1.Work{}), nil
	}
	return TrimWork(object)
}

func isOwn(work *workv1alpha1.Work) bool {
	return work.Labels[v1alpha.LabelHubNamespace] != "" || work.Labels[v1alpha.LabelInventory] != ""
}

// TrimWork is a cache transform that keeps of the Work of a WorkloadDeployment what Judge reads, of others next to
// nothing, and leaves the add-on's own Works as they are: Works that carry hub namespaces, and Works of the inventory.
func TrimWork(object any) (any, error) {
	work, ok := object.(*workv1alpha1.Work)
	if !ok {
		return object, nil
	}
	if isOwn(work) {
		watch.BoundMetadata(work)
		return work, nil
	}
	trimmed := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: work.Namespace, Name: work.Name, UID: work.UID, ResourceVersion: work.ResourceVersion,
	}}
	m, ours := manifestOf(work)
	if !ours {
		cells.TrimPreserved(work, trimmed)
		if cells.IsOfAgents(work) {
			trimmed.DeletionTimestamp = work.DeletionTimestamp
			trimOrigin(work, trimmed)
		}
		if m, isSlice := sliceOf(work); isSlice {
			m.Spec = ""
			trimSliceWork(work, trimmed, &m)
		}
		return trimmed, nil
	}
	trimmed.DeletionTimestamp = work.DeletionTimestamp
	if at := reportedAt(work); !at.IsZero() {
		trimmed.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: subresourceStatus, Time: &at}}
	}
	trimOrigin(work, trimmed)
	for _, key := range appliedOverrides {
		if policies := policiesIn(work.Annotations[key]); len(policies) > 0 {
			// Strings always encode.
			names, _ := json.Marshal(policies)
			trimmed.Annotations[key] = string(names)
		}
	}
	trimManifest(trimmed, &m)
	if read := report(work); read != nil {
		trimmed.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Object: read}}}
	}
	return trimmed, nil
}

// trimOrigin keeps the binding of a Work, and whether Karmada has applied the Work.
func trimOrigin(work, trimmed *workv1alpha1.Work) {
	trimmed.Annotations = map[string]string{}
	for _, key := range []string{
		workv1alpha2.ResourceBindingNamespaceAnnotationKey, workv1alpha2.ResourceBindingNameAnnotationKey,
		workv1alpha2.ClusterResourceBindingAnnotationKey,
	} {
		if value, present := work.Annotations[key]; present {
			trimmed.Annotations[key] = value
		}
	}
	for _, condition := range work.Status.Conditions {
		if condition.Type == workv1alpha1.WorkApplied {
			condition.Message = strings.Clone(reasons.Shorten(condition.Message, v1alpha.MaxMessage))
			trimmed.Status.Conditions = []metav1.Condition{condition}
		}
	}
}

// trimManifest keeps the manifest that Judge reads.
func trimManifest(trimmed *workv1alpha1.Work, m *manifest) {
	// Strings always encode.
	raw, _ := json.Marshal(m)
	trimmed.Spec.Workload.Manifests = []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}
}

// Source identifies the origin of the deployment in a Work.
type Source struct {
	// Project is the name of the project, and Original the deployment there.
	Project  string
	Original types.NamespacedName
	// Copy is the copy on the hub.
	Copy types.NamespacedName
}

// Request returns a request for the original.
func (s *Source) Request() mcreconcile.Request {
	return mcreconcile.Request{ClusterName: multicluster.ClusterName(s.Project), Request: reconcile.Request{NamespacedName: s.Original}}
}

// SourceOf returns the source of a Work; false if the Work does not carry a WorkloadDeployment of a project.
func SourceOf(work *workv1alpha1.Work) (Source, bool) {
	m, ours := manifestOf(work)
	source := Source{
		Project:  m.Metadata.Annotations.Project,
		Original: types.NamespacedName{Namespace: m.Metadata.Labels.ProjectNamespace, Name: m.Metadata.Name},
		Copy:     types.NamespacedName{Namespace: m.Metadata.Namespace, Name: m.Metadata.Name},
	}
	return source, ours && source.Project != "" && source.Original.Namespace != ""
}

// templateGeneration returns the generation of the copy that a Work is based on; 0: the Work does not name it.
func (m *manifest) templateGeneration() int64 {
	generation, err := strconv.ParseInt(m.Metadata.Annotations.TemplateGeneration, 10, 64)
	if err != nil {
		return 0
	}
	return generation
}

// appliedOverrides are the annotations of a Work with the override policies that have changed its manifest.
var appliedOverrides = []string{util.AppliedClusterOverrides, util.AppliedOverrides}

// policy is an override policy in one of these annotations.
type policy struct {
	Name string `json:"policyName"`
}

// maxPolicies is how many override policies of a Work are kept.
const maxPolicies = 8

func policiesIn(annotation string) []policy {
	var policies []policy
	if annotation == "" || json.Unmarshal([]byte(annotation), &policies) != nil {
		return nil
	}
	return policies[:min(len(policies), maxPolicies)]
}

// overridden reports whether an override policy of the operator has changed the manifest.
func overridden(work *workv1alpha1.Work) bool { return len(OverridesOf(work)) > 0 }

// OverridesOf returns the names of the override policies that have changed the manifest of a Work.
func OverridesOf(work *workv1alpha1.Work) []string {
	var names []string
	for _, key := range appliedOverrides {
		for _, policy := range policiesIn(work.Annotations[key]) {
			names = append(names, policy.Name)
		}
	}
	return names
}

// report returns the report that Karmada has collected into a Work, or nil.
func report(work *workv1alpha1.Work) *Report {
	if len(work.Status.ManifestStatuses) == 0 {
		return nil
	}
	return DecodeReport(work.Status.ManifestStatuses[0].Status)
}
