// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/matrix"
)

func testDice(seed uint64) *dice {
	return &dice{Rand: newRandom(seed, 10), foreign: []string{"f-1", "f-2"}, namespaces: []string{"n-1", "n-2"}}
}

// refusals are the writes that the matrix refuses to a party.
func refusals(party string) []matrix.Refusal {
	table, err := matrix.Load()
	if err != nil {
		panic(err)
	}
	return table.Refused(party)
}

func drawn(seed uint64, party Party) []Write {
	if party == partyNamespace {
		n := &consumerNoise{
			dice: testDice(seed), namespace: "default", names: []string{"h-0", "h-1"}, cities: []string{"DFW", "ORD"}, noLocations: true,
		}
		return draw(n.next)
	}
	next := (&consumerNoise{dice: testDice(seed), namespace: "default", names: []string{"h-0", "h-1"}, cities: []string{"DFW", "ORD"}}).next
	if party == PartyCell {
		next = (&cellNoise{dice: testDice(seed), cell: "cell", sent: []types.NamespacedName{{Namespace: "ns-1", Name: "victim-p0-ord"}}}).next
	}
	onHub := hubNoise{
		refused: refusals(map[Party]string{PartyUser: "creator", PartyAgent: "agent"}[party]),
		dice:    testDice(seed), own: "own", made: "run", cities: []string{"DFW", "ORD"}, cells: []string{"dfw", "ord"},
		shards: []string{v1alpha.LeaseShards},
	}
	switch party {
	case PartyUser:
		next = onHub.user
	case PartyAgent:
		next = onHub.agent
	case PartyNeighbour:
		next = (&portNoise{dice: testDice(seed), ports: []string{"127.0.0.1:1", "127.0.0.1:2"}}).next
	default:
	}
	return draw(next)
}

// partyNamespace is PartyConsumer in a project that is a namespace.
const partyNamespace Party = "namespace"

func draw(next func() Write) []Write {
	writes := make([]Write, 1000)
	for i := range writes {
		writes[i] = next()
	}
	return writes
}

// TestNoiseIsRepeatable: a seed draws one sequence of writes, and another seed another one.
func TestNoiseIsRepeatable(t *testing.T) {
	for _, party := range []Party{PartyConsumer, PartyCell, PartyUser, PartyAgent, PartyNeighbour} {
		if !reflect.DeepEqual(drawn(7, party), drawn(7, party)) {
			t.Errorf("%s: the same seed has drawn other writes", party)
		}
		if reflect.DeepEqual(drawn(7, party), drawn(8, party)) {
			t.Errorf("%s: another seed has drawn the same writes", party)
		}
	}
}

// TestNoiseHasEverything: each verb, kind and subresource that a party may write is drawn, and the values that once
// caused faults.
func TestNoiseHasEverything(t *testing.T) {
	for party, wanted := range map[Party][]string{
		PartyConsumer: {
			"create Workload", "patch Workload", "delete Workload", "patch WorkloadDeployment/status",
			"patch WorkloadDeployment/scale", "patch Instance/status",
			"create WorkloadDeployment", "create Instance", "delete WorkloadDeployment", "create InstanceSlice", "delete ConfigMap", "patch Secret",
			"delete LocationBinding", "patch LocationBinding/status", "patch InstanceType", "patch Namespace",
			`"requests":{"cpu":"0","memory":"0"}`, "nvidia.com/gpu", `"replicas":5000`,
			`"compute.datumapis.com/federation-namespace":"n-1"`, hostileFinalizer, "ownerReferences",
		},
		partyNamespace: {"create Workload", v1alpha.AnnotationCities, "patch Namespace"},
		PartyCell: {
			"patch WorkloadDeployment/status", "patch InstanceSlice/status", "patch Cell/status", "create Instance",
			"delete Instance", "patch Instance/status", "delete Pod",
			"patch Pod/status", "create WorkloadDeployment", "delete WorkloadDeployment", "patch ConfigMap", `"replicas":-5`,
			`"existing":"0-9999,0-9999,`,
		},
		PartyUser: {
			"create Namespace/ ns-", "create Namespace/ made-up-run-0", "patch Namespace/ own", "patch Namespace/ n-1",
			"create ResourceBinding", "CustomResourceDefinition",
			"create WorkloadDeployment", "create PropagationPolicy", v1alpha.LabelProjectUID,
		},
		PartyAgent: {
			"create Lease/ karmada-compute-replica-made-up-run-1", "update Lease/ " + v1alpha.LeaseShards,
			`"leaseDurationSeconds":2000000000`, "create Cluster/ made-up-run-2",
			"create Work", "patch Namespace/ karmada-es-made-up-run", "patch Secret/ dfw",
		},
		PartyNeighbour: {
			"connect / 127.0.0.1:2", `"sends":""`, "Authorization: Bearer", "Content-Length: 1000000000", `"tls":true`, `"tls":false`,
		},
	} {
		all := strings.Builder{}
		// One seed need not draw every value.
		for _, w := range slices.Concat(drawn(3, party), drawn(4, party), drawn(5, party)) {
			all.WriteString(w.String() + "\n")
			if w.Verb == "patch" && w.Body == nil || w.Name == "" {
				t.Fatalf("%s: %+v writes nothing", party, w)
			}
		}
		for _, want := range wanted {
			if !strings.Contains(all.String(), want) {
				t.Errorf("%s: nothing draws %s", party, want)
			}
		}
	}
}

// TestCarries: a Work carries a namespace and its objects, but not what only names it.
func TestCarries(t *testing.T) {
	for name, test := range map[string]struct {
		manifest fields
		want     bool
	}{
		"the namespace":       {fields{"kind": "Namespace", "metadata": fields{"name": "ns-1"}}, true},
		"an object in it":     {fields{"kind": "Secret", "metadata": fields{"name": "x", "namespace": "ns-1"}}, true},
		"a label of another":  {fields{"kind": "Namespace", "metadata": fields{"name": "x", "labels": fields{"a": "ns-1"}}}, false},
		"its name in another": {fields{"kind": "Secret", "metadata": fields{"name": "ns-1", "namespace": "x"}}, false},
		"nothing":             {nil, false},
	} {
		work := &unstructured.Unstructured{Object: fields{"spec": fields{"workload": fields{"manifests": []any{test.manifest}}}}}
		if got := carries(work, "ns-1"); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestDifference: transient fields are no difference, and all other fields are.
func TestDifference(t *testing.T) {
	object := func(change func(fields)) kept {
		h, s := &Hostile{Soak: &Soak{}, Party: PartyConsumer}, snapshot{}
		o := fields{
			"kind":     "Pod",
			"metadata": fields{"name": "web-0", "namespace": "ns", "uid": "u", "resourceVersion": "1", "labels": fields{"a": "b"}},
			"spec":     fields{"image": "one", "slices": 1.0},
			"status":   fields{"phase": "Running", "startTime": "now", "conditions": []any{fields{"type": "Ready", "lastTransitionTime": "now"}}},
		}
		change(o)
		h.add(s, "hub", &unstructured.Unstructured{Object: o})
		return s["hub Pod ns/web-0"]
	}
	before := object(func(fields) {})
	for name, test := range map[string]struct {
		change        func(fields)
		fixed, status string
	}{
		"nothing": {change: func(fields) {}},
		"times and versions": {change: func(o fields) {
			_ = unstructured.SetNestedField(o, "2", "metadata", "resourceVersion")
			_ = unstructured.SetNestedField(o, "later", "status", "startTime")
			_ = unstructured.SetNestedSlice(o, []any{fields{"type": "Ready", "lastTransitionTime": "later"}}, "status", "conditions")
		}},
		"a label": {
			change: func(o fields) { _ = unstructured.SetNestedField(o, "c", "metadata", "labels", "a") }, fixed: ".metadata.labels.a: c was b",
		},
		"a new one": {
			change: func(o fields) { _ = unstructured.SetNestedField(o, "c", "metadata", "labels", "x") }, fixed: ".metadata.labels.x: c was <nil>",
		},
		"recreation": {change: func(o fields) { _ = unstructured.SetNestedField(o, "v", "metadata", "uid") }, fixed: ".metadata.uid: v was u"},
		"deletion": {
			change: func(o fields) { _ = unstructured.SetNestedField(o, "now", "metadata", "deletionTimestamp") },
			fixed:  ".metadata.deletionTimestamp: now was <nil>",
		},
		"a repair": {change: func(o fields) { _ = unstructured.SetNestedField(o, false, "spec", "suspendDispatching") }},
		"suspension": {
			change: func(o fields) { _ = unstructured.SetNestedField(o, true, "spec", "suspendDispatching") },
			fixed:  ".spec.suspendDispatching: true was <nil>",
		},
		"status": {
			change: func(o fields) { _ = unstructured.SetNestedField(o, "Failed", "status", "phase") }, status: ".phase: Failed was Running",
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := object(test.change)
			if got := difference("", before.fixed, after.fixed); got != test.fixed {
				t.Errorf("difference %q, want %q", got, test.fixed)
			}
			if got := difference("", before.status, after.status); got != test.status {
				t.Errorf("difference of status %q, want %q", got, test.status)
			}
		})
	}
}

// TestHostileDrawsFromTheMatrix: the parties on the hub try each request that the matrix says is refused to them.
func TestHostileDrawsFromTheMatrix(t *testing.T) {
	for _, party := range []string{"creator", "agent"} {
		noise := hubNoise{dice: testDice(1), own: "own", made: "made", cells: []string{"dfw"}, refused: refusals(party)}
		drawn := map[string]bool{}
		for range 20_000 {
			w := noise.fromMatrix()
			if !w.MustFail || strings.Contains(w.Namespace+w.Name+w.String(), "${") {
				t.Fatalf("%s draws %v", party, w)
			}
			drawn[w.Kind.Kind] = true
		}
		for _, refusal := range noise.refused {
			if !drawn[refusal.Kind] {
				t.Errorf("%s never tries to %s %s", party, refusal.Verb, refusal.Kind)
			}
		}
	}
}
