// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAgentRoles(t *testing.T) {
	roles, err := objectsOf("agent.yaml", map[string]string{"cluster": "lhr"})
	if err != nil {
		t.Fatal(err)
	}
	who := identity(agentUserPrefix + "lhr")
	bindings := 0
	for _, object := range roles {
		subjects, _, err := unstructured.NestedSlice(object.Object, "subjects")
		if err != nil {
			t.Fatal(err)
		}
		if len(subjects) == 0 {
			continue
		}
		bindings++
		want := []any{map[string]any{"apiGroup": rbacGroup, "kind": "User", "name": who.name}}
		if !equality.Semantic.DeepEqual(subjects, want) {
			t.Errorf("%s %s is for %v, want %v", object.GetKind(), object.GetName(), subjects, want)
		}
	}
	if bindings != 3 {
		t.Errorf("%d bindings, want one of the ClusterRole and two of Roles", bindings)
	}
	// The agent is in system:masters in its cell, but not at the hub.
	if slices.Contains(who.groups, "system:masters") || !slices.Contains(identity(karmadaAgentUser).groups, "system:masters") {
		t.Errorf("groups at the hub are %v", who.groups)
	}
}
