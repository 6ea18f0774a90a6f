// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestNothingSecretReachesEveryCluster: a Cluster with any city gets the manifests of the agents before an operator
// confirms it. They have nothing that the agent of another cell may not read, except the pull Secrets that the operator
// names.
func TestNothingSecretReachesEveryCluster(t *testing.T) {
	objects := render(t, parts["hub"], offered)
	if secret, policies := selected(t, objects); len(secret) > 0 || policies == 0 {
		t.Errorf("%d policies select %v", policies, secret)
	}
	pulled, _ := selected(t, render(t, parts["hub"], set{"agents.imagePullSecrets": pullSecret}))
	if !slices.Equal(pulled, []string{"Secret mine"}) {
		t.Errorf("with a pull Secret, the policies select %v", pulled)
	}
	for _, object := range objects {
		if object.GetKind() == "Deployment" {
			checkNoSecret(t, object)
		}
	}
}

// public are the kinds with nothing secret.
var public = []string{
	"CustomResourceDefinition", "InstanceType", "ServiceAccount", "Namespace", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
	"NetworkPolicy", "Deployment", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "PodDisruptionBudget",
}

// selected returns what the policies of Karmada select besides public kinds, and the number of policies.
func selected(t *testing.T, objects []*unstructured.Unstructured) (secret []string, policies int) {
	t.Helper()
	for _, object := range objects {
		if kind := object.GetKind(); kind != "ClusterPropagationPolicy" && kind != "PropagationPolicy" {
			continue
		}
		policies++
		selectors, _, err := unstructured.NestedSlice(object.Object, "spec", "resourceSelectors")
		if err != nil || len(selectors) == 0 {
			t.Fatalf("policy %s selects %v: %v", object.GetName(), selectors, err)
		}
		for _, selector := range selectors {
			one, _ := selector.(map[string]any)
			if kind := fmt.Sprint(one["kind"]); !slices.Contains(public, kind) {
				secret = append(secret, fmt.Sprintf("%s %v", kind, one["name"]))
			}
		}
	}
	return secret, policies
}

// checkNoSecret checks that a Deployment names no source of a secret.
func checkNoSecret(t *testing.T, deployment *unstructured.Unstructured) {
	t.Helper()
	encoded, err := deployment.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"secretKeyRef", "secretName", "secretRef", "configMap", "kubeconfig", "hostPath"} {
		if strings.Contains(string(encoded), word) {
			t.Errorf("Deployment %s has a %s", deployment.GetName(), word)
		}
	}
}
