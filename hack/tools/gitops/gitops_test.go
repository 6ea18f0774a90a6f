// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitops tests what tools make of Workloads and WorkloadDeployments, by their own libraries: kstatus, the health
// checks of Flux, and Lua as Argo CD runs it. The controllers' tests record the objects, and the documentation has the
// snippets. It is a separate module, so that the product does not depend on these libraries.
package gitops

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"
)

const (
	repository  = "../../../"
	page        = repository + "docs/how-to/git.md"
	workloads   = repository + "hub/deployments/testdata/seen/"
	deployments = repository + "hub/projection/testdata/seen/"
)

// verdict holds the answer of each tool about an object.
type verdict struct{ kstatus, flux, argo string }

var (
	waits   = verdict{"InProgress", "InProgress", "Progressing"}
	done    = verdict{"Current", "Current", "Healthy"}
	failed  = verdict{"Failed", "Failed", "Degraded"}
	held    = verdict{"InProgress", "InProgress", "Suspended"}
	blocked = verdict{"InProgress", "Failed", "Progressing"}
	leaving = verdict{"Terminating", "", "Progressing"}
)

// TestWorkloads: each tool knows each recorded state of a Workload.
func TestWorkloads(t *testing.T) {
	check(t, workloads, map[string]verdict{
		"created": waits, "starting": waits, "image-not-pulled": blocked, "image-not-pulled-for-long": failed, "serving": done,
		"changed": waits, "rolling-out": waits, "rolled-out": done, "suspended": held, "stopped": done, "being-deleted": leaving,
		"rollout-failed-soon": blocked, "rollout-failed": failed, "rollout-failed-corrected": done,
		"rollout-undone-soon": blocked, "rollout-undone": failed, "rollout-undone-corrected": done,
		"rollout-paused": held,
	})
}

// TestWorkloadDeployments: Argo CD shows them below a Workload. Other tools read only objects that they have applied.
func TestWorkloadDeployments(t *testing.T) {
	check(t, deployments, map[string]verdict{
		"created": {argo: "Progressing"}, "starting": {argo: "Progressing"}, "image-not-pulled": {argo: "Progressing"},
		"image-not-pulled-for-long": {argo: "Degraded"}, "serving": {argo: "Healthy"}, "changed": {argo: "Progressing"},
	})
}

// check compares the verdicts on all records in a folder.
func check(t *testing.T, folder string, wanted map[string]verdict) {
	t.Helper()
	records, err := filepath.Glob(folder + "*.yaml")
	if err != nil || len(records) != len(wanted) {
		t.Fatalf("%d records, %d verdicts: %v, %v", len(records), len(wanted), records, err)
	}
	for state, want := range wanted {
		object := read(t, folder+state+".yaml")
		if got := argo(t, object); got != want.argo {
			t.Errorf("%s: Argo CD says %q, want %q", state, got, want.argo)
		}
		if want.kstatus != "" {
			computed, err := status.Compute(object)
			if err != nil || computed.Status.String() != want.kstatus {
				t.Errorf("%s: kstatus says %+v, %v, want %s", state, computed, err, want.kstatus)
			}
		}
		if want.flux != "" {
			if got := flux(t, object); got != want.flux {
				t.Errorf("%s: Flux says %q, want %q", state, got, want.flux)
			}
		}
	}
}

// read reads an object as clients decode it from JSON.
func read(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := yaml.YAMLToJSON(content)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		t.Fatal(err)
	}
	return object
}

// block is a code block of YAML.
var block = regexp.MustCompile("(?s)\n```yaml\n(.*?)\n```")

// snippet decodes the only block of YAML in the page that has a text.
func snippet(t *testing.T, text string, into any) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, match := range block.FindAllStringSubmatch(string(content), -1) {
		if strings.Contains(match[1], text) {
			found++
			if err := yaml.Unmarshal([]byte(match[1]), into); err != nil {
				t.Fatalf("%s: %v", page, err)
			}
		}
	}
	if found != 1 {
		t.Fatalf("%d blocks of %s have %s", found, page, text)
	}
}

// flux judges an object with the healthCheckExprs of the page.
func flux(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	var customization struct {
		Spec struct {
			HealthCheckExprs []kustomize.CustomHealthCheck `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	snippet(t, "healthCheckExprs:", &customization)
	for _, check := range customization.Spec.HealthCheckExprs {
		if check.APIVersion != object.GetAPIVersion() || check.Kind != object.GetKind() {
			continue
		}
		evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		if err != nil {
			t.Fatal(err)
		}
		result, err := evaluator.Evaluate(t.Context(), object)
		if err != nil {
			t.Fatal(err)
		}
		return result.Status.String()
	}
	t.Fatalf("the page has no healthCheckExprs of %s", object.GetKind())
	return ""
}

// argo judges an object with the health check of the page. Argo CD asks no script about an object that is being deleted.
func argo(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	if object.GetDeletionTimestamp() != nil {
		return "Progressing"
	}
	var config struct {
		Data map[string]string `json:"data"`
	}
	snippet(t, "resource.customizations", &config)
	script := config.Data["resource.customizations.health."+object.GroupVersionKind().Group+"_"+object.GetKind()]
	if script == "" {
		t.Fatalf("the page has no health check of %s", object.GetKind())
	}
	health := runLua(t, script, object.Object)
	if health.Status != "Healthy" && health.Message == "" {
		t.Errorf("the health has no message: %+v", health)
	}
	return health.Status
}

// health is the result of a health check of Argo CD.
type health struct{ Status, Message string }

// runLua runs a health check with the libraries of Lua that Argo CD opens: no others, as string.
func runLua(t *testing.T, script string, object map[string]any) health {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := luajson.Decode(state, encoded)
	if err != nil {
		t.Fatal(err)
	}
	state.SetGlobal("obj", decoded)
	if err := state.DoString(script); err != nil {
		t.Fatalf("the health check fails: %v", err)
	}
	returned, err := luajson.Encode(state.Get(-1))
	if err != nil {
		t.Fatal(err)
	}
	var result health
	if err := json.Unmarshal(returned, &result); err != nil {
		t.Fatalf("the health check returns %s: %v", returned, err)
	}
	return result
}
