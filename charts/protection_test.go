// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/testenv"
)

const (
	protection    = "ValidatingAdmissionPolicy/karmada-compute-cell"
	protectionOn  = "ValidatingAdmissionPolicyBinding/karmada-compute-cell"
	cellAgent     = "system:serviceaccount:karmada-compute-system:karmada-compute-cell"
	cellMember    = "system:serviceaccount:karmada-cluster:karmada-dfw"
	cellAdmin     = "somebody"
	emergency     = "compute.datumapis.com:emergency"
	karmadaPulled = "system:serviceaccount:karmada-system:karmada-agent-sa"
)

// inCell returns an object of the chart as the ClusterOverridePolicies of the chart change it for a cell.
func inCell(t *testing.T, objects []*unstructured.Unstructured, object string) *unstructured.Unstructured {
	t.Helper()
	found := find(objects, object).DeepCopy()
	content, err := json.Marshal(found.Object)
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range objects {
		selected, _, _ := unstructured.NestedSlice(policy.Object, "spec", "resourceSelectors")
		if policy.GetKind() != "ClusterOverridePolicy" || !slices.ContainsFunc(selected, func(s any) bool {
			selector := s.(map[string]any)
			return selector["kind"] == found.GetKind() && selector["name"] == found.GetName()
		}) {
			continue
		}
		rules, _, _ := unstructured.NestedSlice(policy.Object, "spec", "overrideRules")
		operations, _, _ := unstructured.NestedSlice(rules[0].(map[string]any), "overriders", "plaintext")
		for _, operation := range operations {
			o := operation.(map[string]any)
			o["op"] = o["operator"]
		}
		encoded, err := json.Marshal(operations)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if content, err = patch.Apply(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(content, &found.Object); err != nil {
		t.Fatal(err)
	}
	return found
}

// as is a client of a user with every permission that RBAC gives.
func as(t *testing.T, user string, groups ...string) client.Client {
	t.Helper()
	config := rest.CopyConfig(testenv.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:masters")}
	config.WarningHandler = rest.NoWarnings{}
	c, err := client.New(config, client.Options{Scheme: testenv.Scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// protect puts the policy into the API server as a cell has it, and waits until it is in force.
func protect(t *testing.T, c client.Client, more ...set) {
	t.Helper()
	objects := render(t, append([]set{parts["hub"]}, more...)...)
	for _, object := range []string{protection, protectionOn} {
		applied := inCell(t, objects, object)
		if object == protection {
			// A failing expression would admit the request, which would hide a fault of the expression.
			setField(t, applied, "Fail", "spec", "failurePolicy")
		}
		t.Cleanup(func() { unregister(t, c, applied) })
		if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied.DeepCopy()), client.ForceOwnership,
			client.FieldOwner("charts-test")); err != nil {
			t.Fatal(err)
		}
	}
	awaitInForce(t, c)
}

func setField(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return done(), nil
	}); err != nil {
		t.Fatal(what)
	}
}

// cellObject returns an object of a kind of the add-on that its CRD accepts.
func cellObject(kind, namespace, name string) *unstructured.Unstructured {
	template := map[string]any{
		"runtime": map[string]any{
			"resources": map[string]any{"instanceType": "small"},
			"sandbox":   map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.example/app:1"}}},
		},
		"networkInterfaces": []any{map[string]any{"network": map[string]any{"name": "default"}}},
	}
	specs := map[string]map[string]any{
		"WorkloadDeployment": {
			"workloadRef": map[string]any{"name": "web", "uid": "u"}, "placementName": "main", "cityCode": "DFW", "replicas": int64(1),
			"scaleSettings": map[string]any{"minReplicas": int64(1)}, "template": map[string]any{"spec": template},
		},
		"Instance": template, "InstanceSlice": {"deployment": "web-main-dfw", "first": int64(16), "last": int64(31)},
		"Cell": {"cell": "dfw", "hubUID": "u"},
	}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "compute.datumapis.com/v1alpha", "kind": kind}}
	if spec, ok := specs[kind]; ok {
		object.Object["spec"] = runtimeCopy(spec)
	}
	object.SetName(name)
	object.SetNamespace(namespace)
	object.SetLabels(map[string]string{"compute.datumapis.com/workload-name": "web"})
	return object
}

func runtimeCopy(spec map[string]any) map[string]any {
	return (&unstructured.Unstructured{Object: spec}).DeepCopy().Object
}

// owned returns an object that the agent creates.
func owned(kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	switch kind {
	case "NetworkPolicy":
		object.Object = map[string]any{"apiVersion": "networking.k8s.io/v1", "spec": map[string]any{"podSelector": map[string]any{}}}
		object.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "karmada-compute-cell"})
	case "HorizontalPodAutoscaler":
		object.Object = map[string]any{"apiVersion": "autoscaling/v2", "spec": map[string]any{
			"minReplicas": int64(1), "maxReplicas": int64(3),
			// Not a kind of the add-on: tests of the hub leave the policy here that refuses those, and a cell has none.
			"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
		}}
	case "PodDisruptionBudget":
		object.Object = map[string]any{"apiVersion": "policy/v1", "spec": map[string]any{"minAvailable": int64(1)}}
	}
	if kind != "NetworkPolicy" {
		_ = unstructured.SetNestedSlice(object.Object, []any{map[string]any{
			"apiVersion": "compute.datumapis.com/v1alpha", "kind": "WorkloadDeployment", "name": "web", "uid": "u", "controller": true,
		}}, "metadata", "ownerReferences")
	}
	object.SetKind(kind)
	object.SetName(name)
	object.SetNamespace(namespace)
	return object
}

// A change is an attempt at an object that exists.
type change struct {
	name, subresource, patch string
	// allowed reports that any user may do it.
	allowed bool
}

var changes = map[string][]change{
	"WorkloadDeployment": {
		{name: "spec", patch: `{"spec":{"scaleSettings":{"minReplicas":2}}}`},
		{name: "scale", subresource: "scale", patch: `{"spec":{"replicas":2}}`},
		{name: "status", subresource: "status", patch: `{"status":{"replicas":7}}`},
		{name: "own label", patch: `{"metadata":{"labels":{"compute.datumapis.com/workload-name":"other"}}}`},
		{name: "own label removed", patch: `{"metadata":{"labels":{"compute.datumapis.com/workload-name":null}}}`},
		{name: "own label added", patch: `{"metadata":{"labels":{"meta.datumapis.com/upstream-namespace":"a"}}}`},
		{name: "annotation of Karmada", patch: `{"metadata":{"annotations":{"work.karmada.io/name":"other"}}}`},
		{name: "owner", patch: `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"b"}]}}`},
		{name: "nothing", patch: `{"spec":{"cityCode":"DFW"}}`, allowed: true},
		{name: "scale as before", subresource: "scale", patch: `{"spec":{"replicas":1}}`, allowed: true},
		{name: "foreign label", patch: `{"metadata":{"labels":{"example.com/a":"b"},"annotations":{"example.com/a":"b"}}}`, allowed: true},
		{name: "finalizer", patch: `{"metadata":{"finalizers":["example.com/a"]}}`, allowed: true},
		{name: "finalizer removed", patch: `{"metadata":{"finalizers":null}}`, allowed: true},
	},
	"Instance": {
		{name: "spec", patch: `{"spec":{"runtime":{"resources":{"instanceType":"large"}}}}`},
		{name: "status", subresource: "status", patch: `{"status":{"conditions":[]}}`},
		{name: "finalizer", patch: `{"metadata":{"finalizers":["example.com/a"]}}`, allowed: true},
		{name: "finalizer removed", patch: `{"metadata":{"finalizers":null}}`, allowed: true},
	},
	"InstanceSlice": {
		{name: "own label", patch: `{"metadata":{"labels":{"compute.datumapis.com/workload-name":"other"}}}`},
		{name: "status", subresource: "status", patch: `{"status":{"observedGeneration":7}}`},
	},
	"Cell": {
		{name: "spec", patch: `{"spec":{"cell":"ord"}}`},
		{name: "status", subresource: "status", patch: `{"status":{"total":7}}`},
	},
	"NetworkPolicy": {
		{name: "spec", patch: `{"spec":{"podSelector":{"matchLabels":{"a":"b"}}}}`},
		{name: "own label removed", patch: `{"metadata":{"labels":null}}`},
		{name: "foreign label", patch: `{"metadata":{"labels":{"example.com/a":"b"}}}`, allowed: true},
	},
	"HorizontalPodAutoscaler": {
		{name: "spec", patch: `{"spec":{"maxReplicas":5}}`},
		{name: "owner removed", patch: `{"metadata":{"ownerReferences":null}}`},
	},
	"PodDisruptionBudget": {
		{name: "spec", patch: `{"spec":{"minAvailable":0}}`},
		{name: "confirmation", patch: `{"metadata":{"annotations":{"compute.datumapis.com/floor-sequence":"9"}}}`},
		{name: "status, as Kubernetes", subresource: "status", patch: `{"status":{"observedGeneration":1}}`, allowed: true},
	},
}

// TestProtection: in a cell, only the add-on, Karmada and Kubernetes change the add-on's objects, whatever RBAC allows.
func TestProtection(t *testing.T) {
	c := newClient(t)
	for _, object := range render(t, parts["hub"]) {
		if object.GetKind() == "CustomResourceDefinition" {
			apply(t, c, []*unstructured.Unstructured{object})
		}
	}
	protect(t, c)
	namespace := testenv.Namespace(t, c, "protected").Name
	for kind, attempts := range changes {
		t.Run(kind, func(t *testing.T) {
			object := cellObject(kind, namespace, "web-main-dfw")
			if attempts[0].subresource == "" && slices.Contains([]string{"NetworkPolicy", "HorizontalPodAutoscaler", "PodDisruptionBudget"}, kind) {
				object = owned(kind, namespace, "web-main-dfw")
			}
			if kind == "Cell" {
				object.SetNamespace("")
			}
			protects(t, object, attempts)
		})
	}
}

// protects checks that only the writers create, change and delete an object.
func protects(t *testing.T, object *unstructured.Unstructured, attempts []change) {
	t.Helper()
	writers := map[string]client.Client{
		"the agent": as(t, cellAgent), "Karmada, push": as(t, cellMember, "system:serviceaccounts:karmada-cluster"),
		"Karmada, pull":           as(t, karmadaPulled),
		"garbage collector":       as(t, "system:serviceaccount:kube-system:generic-garbage-collector"),
		"namespace controller":    as(t, "system:serviceaccount:kube-system:namespace-controller"),
		"autoscaler":              as(t, "system:serviceaccount:kube-system:horizontal-pod-autoscaler"),
		"kube-controller-manager": as(t, "system:kube-controller-manager"),
		"an emergency":            as(t, cellAdmin, emergency),
	}
	kind, other := object.GetKind(), as(t, cellAdmin)
	refused(t, kind+": create", other.Create(t.Context(), object.DeepCopy(), client.DryRunAll), true)
	if err := writers["the agent"].Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	for _, attempt := range attempts {
		refused(t, kind+": "+attempt.name, patchAs(t, other, object, attempt, false), !attempt.allowed)
		for who, writer := range writers {
			if err := patchAs(t, writer, object, attempt, true); err != nil {
				t.Errorf("%s: %s: %s: %v", kind, attempt.name, who, err)
			}
		}
	}
	refused(t, kind+": delete", other.Delete(t.Context(), object.DeepCopy()), true)
	for who, writer := range writers {
		if err := writer.Delete(t.Context(), object.DeepCopy(), client.DryRunAll); err != nil {
			t.Errorf("%s: delete: %s: %v", kind, who, err)
		}
	}
	if err := writers["garbage collector"].Delete(t.Context(), object); err != nil {
		t.Error(err)
	}
}

// patchAs makes an attempt; a successful attempt by a writer changes nothing permanently.
func patchAs(t *testing.T, c client.Client, object *unstructured.Unstructured, attempt change, dry bool) error {
	t.Helper()
	patch, target := client.RawPatch(types.MergePatchType, []byte(attempt.patch)), object.DeepCopy()
	if attempt.subresource == "" {
		var options []client.PatchOption
		if dry {
			options = append(options, client.DryRunAll)
		}
		return c.Patch(t.Context(), target, patch, options...)
	}
	options := &client.SubResourcePatchOptions{}
	if dry {
		options.DryRun = []string{"All"}
	}
	return c.SubResource(attempt.subresource).Patch(t.Context(), target, patch, options)
}

// refused checks that the policy refused a request, with advice, or that it did not.
func refused(t *testing.T, what string, err error, want bool) {
	t.Helper()
	switch {
	case !want && err != nil:
		t.Errorf("%s: %v", what, err)
	case want && (err == nil || !strings.Contains(err.Error(), "karmada-compute and Karmada write ") ||
		!strings.Contains(err.Error(), " in its project instead") || !strings.Contains(err.Error(), emergency)):
		t.Errorf("%s: got %v", what, err)
	}
}

// TestProtectionLeaves: the policy does not apply to objects of others, the status of Instances that another runtime
// runs and the end of a namespace, and the message names the Workload.
func TestProtectionLeaves(t *testing.T) {
	c := newClient(t)
	protect(t, c)
	namespace := testenv.Namespace(t, c, "left").Name
	other := as(t, cellAdmin)

	theirs := owned("NetworkPolicy", namespace, "theirs")
	theirs.SetLabels(nil)
	scaler := owned("HorizontalPodAutoscaler", namespace, "theirs")
	scaler.SetOwnerReferences(nil)
	for _, object := range []*unstructured.Unstructured{theirs, scaler} {
		refused(t, "create "+id(object), other.Create(t.Context(), object), false)
		refused(t, "change "+id(object), other.Patch(t.Context(), object,
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))), false)
		refused(t, "delete "+id(object), other.Delete(t.Context(), object), false)
	}

	agent := as(t, cellAgent)
	external := cellObject("Instance", namespace, "machine")
	setField(t, external, "virtual-machine", "spec", "runtime", "class")
	deployment := cellObject("WorkloadDeployment", namespace, "shop-main-dfw")
	deployment.SetLabels(nil)
	for _, object := range []*unstructured.Unstructured{external, deployment} {
		if err := agent.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, "status of another runtime", patchAs(t, other, external,
		change{subresource: "status", patch: `{"status":{"conditions":[]}}`}, false), false)
	err := other.Delete(t.Context(), deployment.DeepCopy())
	if want := "karmada-compute and Karmada write workloaddeployments/shop-main-dfw, and user somebody may not: change " +
		"Workload web in its project instead"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}

	err = patchAs(t, other, external, change{patch: `{"spec":{"runtime":{"class":"other"}}}`}, false)
	if want := " write instances/machine, and user somebody may not: change Workload web in its project instead"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}

	// Nothing ends a namespace here, so it stays Terminating.
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	await(t, "objects of a namespace that ends cannot be deleted", func() bool {
		return other.Delete(t.Context(), deployment.DeepCopy(), client.DryRunAll) == nil
	})
	refused(t, "delete with the namespace", other.Delete(t.Context(), external), false)
}
