// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

func newScope() *scope {
	deployment := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{
		Name: "web-main-dfw", Namespace: "default", UID: "deployment-uid", Generation: 5,
		Labels: map[string]string{v1alpha.LabelWorkloadUID: "workload-uid"},
	}}
	deployment.Spec.CityCode = "DFW"
	deployment.Spec.ScaleSettings.MinReplicas = 3
	return &scope{
		origin:     projects.Origin{Project: "north", ProjectUID: "project-uid", Namespace: "default"},
		deployment: deployment, hubNamespace: "ns-1",
	}
}

func TestDesiredCopy(t *testing.T) {
	got := newScope().desiredCopy("hub-uid")
	wantLabels := map[string]string{
		v1alpha.LabelProject: "cluster-north", v1alpha.LabelProjectNamespace: "default", v1alpha.LabelProjectUID: "project-uid",
		v1alpha.LabelDeploymentUID: "deployment-uid", v1alpha.LabelWorkloadUID: "workload-uid", v1alpha.LabelTopologyCity: "dfw",
		v1alpha.LabelHub: "hub-uid",
	}
	for key, want := range wantLabels {
		if got.Labels[key] != want {
			t.Errorf("label %s is %q, want %q", key, got.Labels[key], want)
		}
	}
	if got.Annotations[v1alpha.AnnotationProjectGeneration] != "5" || got.Annotations[v1alpha.AnnotationProjectName] != "north" {
		t.Errorf("annotations are %v", got.Annotations)
	}
	if got.Namespace != "ns-1" || got.Name != "web-main-dfw" || got.Spec.ScaleSettings.MinReplicas != 3 || got.UID != "" {
		t.Errorf("got %+v", got)
	}
}

// TestTheCopyHasNoRollout: a change of the deadline costs the cells no write. They replace the Instances, and the
// bounds of the rollout are in the copy.
func TestTheCopyHasNoRollout(t *testing.T) {
	s := newScope()
	s.deployment.Spec.Rollout = &v1alpha.WorkloadRollout{ProgressDeadlineSeconds: new(int32(60))}
	if got := s.desiredCopy("hub-uid"); got.Spec.Rollout != nil || s.deployment.Spec.Rollout == nil {
		t.Errorf("the copy has %+v, the original %+v", got.Spec.Rollout, s.deployment.Spec.Rollout)
	}
	s.deployment.Spec.Rollout.Batch = new(intstr.FromInt32(3))
	if got := s.desiredCopy("hub-uid").Spec.Rollout; got == nil || got.Batch == nil || got.Batch.IntVal != 3 {
		t.Errorf("the copy has %+v; the cell paces a changed override by the batch", got)
	}
	s.deployment.Spec.Rollout.MaxUnavailable, s.deployment.Spec.MinReadySeconds = new(intstr.FromInt32(2)), new(int32(5))
	got := s.desiredCopy("hub-uid").Spec
	if got.Rollout == nil || got.Rollout.MaxUnavailable.IntVal != 2 || got.Rollout.ProgressDeadlineSeconds != nil ||
		*got.MinReadySeconds != 5 {
		t.Errorf("the copy has %+v and %v", got.Rollout, got.MinReadySeconds)
	}
}

// TestDesiredNamespaceWork: without the finalizer or the label, Karmada would leave the namespace in the cell forever.
func TestDesiredNamespaceWork(t *testing.T) {
	s := newScope()
	s.hubNamespace, s.hubNamespaceUID = "ns-1", "ns-uid"
	work, err := s.desiredNamespaceWork("cell-a", "hub-uid")
	if err != nil {
		t.Fatal(err)
	}
	if work.Namespace != "karmada-es-cell-a" || work.Labels[v1alpha.LabelHubNamespace] != "ns-1" ||
		work.Labels[v1alpha.LabelTopologyCity] != "dfw" {
		t.Errorf("metadata is %+v", work.ObjectMeta)
	}
	if !slices.Contains(work.Finalizers, cells.ExecutionFinalizer) {
		t.Errorf("finalizers are %v", work.Finalizers)
	}
	if len(work.OwnerReferences) != 1 || work.OwnerReferences[0].UID != "ns-uid" {
		t.Errorf("owners are %v", work.OwnerReferences)
	}
	var namespace corev1.Namespace
	if err := json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, &namespace); err != nil {
		t.Fatal(err)
	}
	if namespace.Name != "ns-1" || namespace.Labels[cells.LabelManagedByKarmada] != "true" ||
		namespace.Labels["pod-security.kubernetes.io/enforce"] != "baseline" || work.Labels["pod-security.kubernetes.io/enforce"] != "baseline" {
		t.Errorf("manifest is %+v", namespace.ObjectMeta)
	}
}

// TestTheNamespaceInACellNamesItsOrigin: with it the cell lists the namespace in its inventory, and the hub knows its
// project.
func TestTheNamespaceInACellNamesItsOrigin(t *testing.T) {
	s := newScope()
	s.hubNamespace, s.hubNamespaceUID = "ns-1", "ns-uid"
	work, err := s.desiredNamespaceWork("cell-a", "hub-uid")
	if err != nil {
		t.Fatal(err)
	}
	var namespace corev1.Namespace
	if err := json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, &namespace); err != nil {
		t.Fatal(err)
	}
	if namespace.Labels[v1alpha.LabelHub] != "hub-uid" || work.Labels[v1alpha.LabelHub] != "hub-uid" ||
		namespace.Annotations[v1alpha.AnnotationProjectName] != "north" || namespace.Labels[v1alpha.LabelProjectUID] == "" {
		t.Errorf("labels %v and annotations %v of the namespace, labels %v of the Work", namespace.Labels, namespace.Annotations, work.Labels)
	}
}

func TestDesiredNamespaceIsNotPropagatedByKarmada(t *testing.T) {
	if got := newScope().desiredNamespace(); got.Labels["namespace.karmada.io/skip-auto-propagation"] != "true" {
		t.Errorf("labels are %v", got.Labels)
	}
}
