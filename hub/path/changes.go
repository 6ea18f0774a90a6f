// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"bytes"
	"slices"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// workChange compares two versions of a Work from the cache, trimmed.
func workChange(before, after client.Object) change {
	old, isWork := before.(*workv1alpha1.Work)
	now, stillIs := after.(*workv1alpha1.Work)
	if !isWork || !stillIs {
		return nothing
	}
	applied := func(w *workv1alpha1.Work) bool {
		return meta.IsStatusConditionTrue(w.Status.Conditions, workv1alpha1.WorkApplied)
	}
	sameManifests := slices.EqualFunc(old.Spec.Workload.Manifests, now.Spec.Workload.Manifests, func(a, b workv1alpha1.Manifest) bool {
		return bytes.Equal(a.Raw, b.Raw)
	})
	sameReport := slices.EqualFunc(old.Status.ManifestStatuses, now.Status.ManifestStatuses, func(a, b workv1alpha1.ManifestStatus) bool {
		return sameRaw(a.Status, b.Status)
	})
	switch {
	case old.UID != now.UID || old.DeletionTimestamp.IsZero() != now.DeletionTimestamp.IsZero() || applied(old) != applied(now):
		return changed
	case !sameManifests || !sameReport:
		return reported
	}
	return nothing
}

// bindingChange compares two versions of a binding from the cache, trimmed.
func bindingChange(before, after client.Object) change {
	old, isBinding := before.(*workv1alpha2.ResourceBinding)
	now, stillIs := after.(*workv1alpha2.ResourceBinding)
	if !isBinding || !stillIs {
		return nothing
	}
	owner := func(b *workv1alpha2.ResourceBinding) (uid string) {
		if ref := metav1.GetControllerOfNoCopy(b); ref != nil {
			return string(ref.UID)
		}
		return ""
	}
	sameReports := slices.EqualFunc(old.Status.AggregatedStatus, now.Status.AggregatedStatus, func(a, b workv1alpha2.AggregatedStatusItem) bool {
		return a.ClusterName == b.ClusterName && sameRaw(a.Status, b.Status)
	})
	switch {
	case old.UID != now.UID || old.DeletionTimestamp.IsZero() != now.DeletionTimestamp.IsZero(),
		owner(old) != owner(now) || old.Spec.Resource.UID != now.Spec.Resource.UID:
		return changed
	case !slices.Equal(old.Spec.Clusters, now.Spec.Clusters) || !sameReports:
		return reported
	}
	return nothing
}

func sameRaw(a, b *runtime.RawExtension) bool {
	return a == b || a != nil && b != nil && bytes.Equal(a.Raw, b.Raw)
}
