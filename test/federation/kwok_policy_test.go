// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestKwokDeletions: kwok deletes Pods that are being deleted, and no others.
func TestKwokDeletions(t *testing.T) {
	config := testenv.Config(t)
	admin, err := newPlane(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.applyFile(t.Context(), "kwok-policy.yaml", nil); err != nil {
		t.Fatal(err)
	}
	as := rest.CopyConfig(config)
	as.Impersonate = rest.ImpersonationConfig{UserName: "kwok", Groups: []string{"system:masters"}}
	pods, kwok := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default"), kubernetes.NewForConfigOrDie(as).CoreV1().Pods("default")
	create := func(name string) {
		t.Helper()
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"example.com/held"}},
			Spec:       corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "app", Image: "example.com/app"}}},
		}
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = pods.Patch(testenv.Context(), name, "application/merge-patch+json",
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			_ = pods.Delete(testenv.Context(), name, *metav1.NewDeleteOptions(0))
		})
	}
	create("running")
	dryRun := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsForbidden(kwok.Delete(ctx, "running", dryRun)), nil
	}); err != nil {
		t.Fatalf("kwok deletes a Pod that is not being deleted: %v", err)
	}
	if err := pods.Delete(t.Context(), "running", dryRun); err != nil {
		t.Errorf("others do not: %v", err)
	}
	create("stopping")
	if err := pods.Delete(t.Context(), "stopping", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := kwok.Delete(t.Context(), "stopping", *metav1.NewDeleteOptions(0)); err != nil {
		t.Errorf("kwok does not delete a Pod that is being deleted: %v", err)
	}
}
