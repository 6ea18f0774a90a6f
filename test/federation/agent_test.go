// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/karmada-io/karmada/pkg/karmadactl/register"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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

// TestRolesOfKarmada: agents have at the hub exactly the rights that karmadactl register gives them, and users have the
// rights that karmadactl init gives.
func TestRolesOfKarmada(t *testing.T) {
	objects, err := objectsOf("agent.yaml", map[string]string{"cluster": "lhr"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]rbacv1.PolicyRule{}
	for _, object := range objects {
		role := &rbacv1.ClusterRole{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role); err != nil {
			t.Fatal(err)
		}
		if len(role.Rules) > 0 {
			got[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = role.Rules
		}
	}
	want, registered := map[string][]rbacv1.PolicyRule{}, register.GenerateRBACResources("lhr", "karmada-cluster")
	for _, role := range registered.ClusterRoles {
		want["ClusterRole /"+role.Name] = role.Rules
	}
	for _, role := range registered.Roles {
		want["Role "+role.Namespace+"/"+role.Name] = role.Rules
	}
	if len(want) == 0 || !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("the agents' roles differ from karmadactl's: %s", cmp.Diff(want, got))
	}

	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/karmada-io/karmada").Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range roleFiles {
		roles, err := karmadaRoles(filepath.Join(strings.TrimSpace(string(dir)), "artifacts", "deploy", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range roles {
			names = append(names, role.GetName())
		}
	}
	for _, name := range []string{"karmada-view", "karmada-edit", "cluster-proxy-admin", "system:karmada:agent-rbac-generator"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing in %v", name, names)
		}
	}
}

// TestRestrictedAgent: the step of the how-to, which each cell in pull mode of a federation has, leaves an agent no right to
// create Clusters, and all its other rights.
func TestRestrictedAgent(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), agentRestriction) {
		t.Errorf("docs/how-to/install.md does not have the patch %s", agentRestriction)
	}
	patch, err := jsonpatch.DecodePatch([]byte(agentRestriction))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := objectsOf("agent.yaml", map[string]string{"cluster": "lhr"})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetKind() != "ClusterRole" {
			continue
		}
		before, after := &rbacv1.ClusterRole{}, &rbacv1.ClusterRole{}
		content, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		restricted, err := patch.Apply(content)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(json.Unmarshal(content, before), json.Unmarshal(restricted, after)); err != nil {
			t.Fatal(err)
		}
		before.Rules[1].Verbs = []string{"list", "watch"}
		if !equality.Semantic.DeepEqual(before, after) {
			t.Errorf("the restricted role differs: %s", cmp.Diff(before, after))
		}
	}
}
