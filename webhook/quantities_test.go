// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// numbers is a Workload whose quantities are numbers, as a Pod takes them.
func numbers(t *testing.T, namespace string) *unstructured.Unstructured {
	t.Helper()
	tree := &unstructured.Unstructured{}
	text, err := json.Marshal(workload("DFW"))
	if err == nil {
		err = json.Unmarshal([]byte(strings.Replace(string(text), `"name":"app"`,
			`"name":"app","resources":{"limits":{"cpu":0.5,"memory":1e9},"requests":{"cpu":2.5e-1,"memory":67108864}}`, 1)), &tree.Object)
	}
	if err != nil {
		t.Fatal(err)
	}
	tree.SetAPIVersion(v1alpha.GroupVersion.String())
	tree.SetKind(v1alpha.KindWorkload)
	tree.SetNamespace(namespace)
	unstructured.RemoveNestedField(tree.Object, "status")
	unstructured.RemoveNestedField(tree.Object, "metadata", "creationTimestamp")
	return tree
}

// TestNumbersAreQuantities: the schema takes cpu: 0.5 without quotes, and a second server-side apply changes nothing.
func TestNumbersAreQuantities(t *testing.T) {
	admin := as(t, "")
	namespace := testenv.Namespace(t, admin, "numbers").Name
	for range 2 {
		applied := numbers(t, namespace)
		if err := admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("consumer")); err != nil {
			t.Fatal(err)
		}
		stored := &v1alpha.Workload{}
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(applied), stored); err != nil {
			t.Fatal(err)
		}
		got := stored.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Resources
		if got.Limits.Cpu().String() != "500m" || got.Limits.Memory().Value() != 1e9 ||
			got.Requests.Cpu().String() != "250m" || stored.Generation != 1 {
			t.Errorf("generation %d has %v", stored.Generation, got)
		}
	}
	wrong := numbers(t, namespace)
	wrong.SetName("wrong")
	sandbox := []string{"spec", "template", "spec", "runtime", "sandbox"}
	for _, value := range []any{true, map[string]any{}, []any{}, "much"} {
		container := map[string]any{"name": "app", "image": "a", "resources": map[string]any{"limits": map[string]any{"cpu": value}}}
		if err := unstructured.SetNestedField(wrong.Object, []any{container}, append(sandbox, "containers")...); err != nil {
			t.Fatal(err)
		}
		if err := admin.Create(t.Context(), wrong.DeepCopy()); err == nil || !strings.Contains(err.Error(), "limits.cpu") {
			t.Errorf("%v: %v", value, err)
		}
	}
}

// TestGraceIsBounded: the schema refuses a longer grace period with the reason, and the page that has all differences.
func TestGraceIsBounded(t *testing.T) {
	admin := as(t, "")
	long := workload("DFW")
	long.Namespace = testenv.Namespace(t, admin, "grace").Name
	long.Spec.Template.Spec.Runtime.Sandbox.TerminationGracePeriodSeconds = new(int64(601))
	if err := admin.Create(t.Context(), long); err == nil || !strings.Contains(err.Error(), "at most 600") ||
		!strings.Contains(err.Error(), "template-fields.md") {
		t.Errorf("601 seconds: %v", err)
	}
}
