// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// agentsSpace is the namespace of the agents in the tests of the guard, which is no name of Karmada's.
	agentsSpace = "guard-agents"
	bindingID   = "resourcebinding.karmada.io/permanent-id"
)

// balancer203 gives a cell a load balancer.
const balancer203 = `{"metadata":{"annotations":{"compute.datumapis.com/load-balancer":"{\"addresses\":[\"203.0.113.0/24\"]}"}}}`

// identified is a binding with the identity of another one.
func identified(object *unstructured.Unstructured) *unstructured.Unstructured {
	object.SetLabels(map[string]string{bindingID: "theirs"})
	return object
}

func removeAll(obj client.Object) attempt {
	return func(ctx context.Context, c client.Client) error {
		return c.DeleteAllOf(ctx, obj, client.InNamespace(obj.GetNamespace()))
	}
}

// bindings are attempts of others to write or delete what Karmada alone does, by the labels by which Karmada finds Works.
var bindings = map[string]intrusion{
	"create a binding with the identity of another": {
		tenant, create(identified(binding("ResourceBinding", free, "new", ofNamespace(free)))), "Karmada alone creates",
	},
	"create a binding": {tenant, create(binding("ResourceBinding", free, "new", ofNamespace(free))), "Karmada alone creates"},
	"create a Work with the identity of a binding": {
		tenant, create(identified(workOf(free))), "Works of a cell",
	},
	"create a Work of its own cell with the identity of a binding": {
		cellsAgent, create(identified(workOf("karmada-es-mine"))), "are Karmada's",
	},
	"give a Work the identity of a binding": {
		cellsAgent, patch(workNamedIn("karmada-es-mine", "plain"), `{"metadata":{"labels":{"`+bindingID+`":"theirs"}}}`), "are Karmada's",
	},
	"give a Work the name of a binding": {
		cellsAgent, patch(workNamedIn("karmada-es-mine", "plain"),
			`{"metadata":{"annotations":{"resourcebinding.karmada.io/namespace":"`+guardedSpace+`"}}}`), "are Karmada's",
	},
	"delete the binding of a copy": {
		tenant, remove(binding("ResourceBinding", guardedSpace, "old", ofNamespace(guardedSpace))), "Karmada alone deletes",
	},
	"delete all bindings of copies": {
		tenant, removeAll(binding("ResourceBinding", guardedSpace, "", ofNamespace(guardedSpace))), "Karmada alone deletes",
	},
	"delete the binding of the agents": {
		tenant, remove(binding("ResourceBinding", agentsSpace, "old", ofNamespace(agentsSpace))), "Karmada alone deletes",
	},
	"turn the binding of the agents": {
		tenant, patch(binding("ResourceBinding", agentsSpace, "old", ofNamespace(agentsSpace)), `{"spec":{"clusters":[]}}`),
		"Karmada and karmada-compute alone propagate",
	},
}

// reserved are attempts to take or delete namespaces in which Karmada or the add-on keeps something, and Works there.
var reserved = map[string]intrusion{
	"take the namespace of a later cell":  {tenant, create(namespace("karmada-es-late")), "are reserved"},
	"take another namespace of Karmada":   {tenant, create(namespace("karmada-more")), "are reserved"},
	"delete the namespace of a cell":      {tenant, remove(namespace("karmada-es-other")), "Karmada deletes"},
	"delete the namespace of the agents":  {tenant, remove(namespace(agentsSpace)), "Karmada deletes"},
	"delete the credentials of all cells": {tenant, remove(namespace("karmada-cluster")), "Karmada deletes"},
	"delete a Work of a cell":             {tenant, remove(workNamedIn("karmada-es-mine", "plain")), "Works of a cell"},
	"delete all Works of a cell":          {tenant, removeAll(workNamedIn("karmada-es-mine", "")), "Works of a cell"},
	"delete a Work of another cell":       {cellsAgent, remove(workNamedIn("karmada-es-other", "plain")), "Works of a cell"},
	"report in the name of another cell": {
		cellsAgent, patchStatus(workNamedIn("karmada-es-other", "plain"), `{"status":{}}`), "Works of a cell",
	},
	"report in the name of a cell, a tenant": {
		tenant, patchStatus(workNamedIn("karmada-es-mine", "plain"), `{"status":{}}`), "Works of a cell",
	},
}

// leases are attempts on the Leases by which the parts of the hub prove that they run.
var leases = map[string]intrusion{
	"be the controllers of Karmada": {cellsAgent, create(leaseIn("karmada-system", "karmada-controller-manager")), "of its own cell"},
	"be the scheduler of Karmada":   {tenant, create(leaseIn("karmada-system", "karmada-scheduler")), "Karmada alone writes"},
	"be the controllers of the hub": {cellsAgent, create(leaseIn("kube-system", "kube-controller-manager")), "of its own cell"},
	"renew the Lease of another cell": {
		cellsAgent, patch(leaseIn("karmada-cluster", "other"), `{"spec":{"leaseDurationSeconds":2000000000}}`), "of its own cell",
	},
	"renew the Lease of a cell": {
		tenant, patch(leaseIn("karmada-cluster", "other"), `{"spec":{"leaseDurationSeconds":2000000000}}`), "Karmada alone writes",
	},
	"delete the Lease of a cell":         {tenant, remove(leaseIn("karmada-cluster", "other")), "Karmada alone writes"},
	"delete all Leases of cells":         {tenant, removeAll(leaseIn("karmada-cluster", "")), "Karmada alone writes"},
	"write the Lease of another's agent": {cellsAgent, create(leaseIn("karmada-system", "karmada-agent-other")), "of its own cell"},
	"write a Lease anywhere":             {cellsAgent, create(leaseIn(free, "any")), "of its own cell"},
}

// sharedLegitimate are requests of others that look like these and must be accepted.
var sharedLegitimate = map[string]intrusion{
	"Karmada binds an object":     {karmadaUser, create(binding("ResourceBinding", free, "new", ofNamespace(free))), ""},
	"delete a binding of its own": {tenant, remove(binding("ResourceBinding", free, "old", ofNamespace(free))), ""},
	"delete a binding in a project": {
		tenant, remove(binding("ResourceBinding", guarded, "old", ofNamespace(guarded))), "",
	},
	"Karmada deletes a binding": {karmadaUser, remove(binding("ResourceBinding", guardedSpace, "old", ofNamespace(guardedSpace))), ""},
	"the add-on deletes one":    {hubUser, remove(binding("ResourceBinding", guardedSpace, "old", ofNamespace(guardedSpace))), ""},
	"an operator deletes one":   {operator, remove(binding("ResourceBinding", guardedSpace, "old", ofNamespace(guardedSpace))), ""},
	"Karmada identifies a Work": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", "plain"), `{"metadata":{"labels":{"`+bindingID+`":"b"}}}`), "",
	},
	"an agent reports Endpoints": {cellsAgent, create(collected(workOf("karmada-es-mine"))), ""},
	"an agent releases a Work": {
		cellsAgent, patch(workNamedIn("karmada-es-mine", "of-a-copy"), `{"metadata":{"finalizers":null}}`), "",
	},
	"an agent deletes a Work": {cellsAgent, remove(workNamedIn("karmada-es-mine", "plain")), ""},
	"an agent reports": {
		cellsAgent, patchStatus(workNamedIn("karmada-es-mine", "of-a-copy"), `{"status":{"conditions":[]}}`), "",
	},
	"Karmada deletes a Work":      {karmadaUser, remove(workNamedIn("karmada-es-other", "plain")), ""},
	"the collector deletes one":   {collector, remove(workNamedIn("karmada-es-other", "plain")), ""},
	"Karmada prepares a cell":     {karmadaUser, create(namespace("karmada-es-late")), ""},
	"an operator registers one":   {operator, create(namespace("karmada-es-late")), ""},
	"Karmada forgets a cell":      {karmadaUser, remove(namespace("karmada-es-other")), ""},
	"an operator deletes agents":  {operator, remove(namespace(agentsSpace)), ""},
	"delete a namespace":          {tenant, remove(namespace(free)), ""},
	"an agent renews its cell":    {cellsAgent, create(leaseIn("karmada-cluster", "mine")), ""},
	"an agent leads its replicas": {cellsAgent, create(leaseIn("karmada-system", "karmada-agent-mine")), ""},
	"Karmada renews a cell":       {karmadaUser, patch(leaseIn("karmada-cluster", "other"), `{"spec":{"leaseDurationSeconds":40}}`), ""},
	"another product's Lease":     {tenant, create(leaseIn("karmada-system", "their-controller")), ""},
	"a Lease of a tenant":         {tenant, create(leaseIn(free, "karmada-like")), ""},
}

func leaseIn(namespace, name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: named(namespace, name)}
}

func workNamedIn(namespace, name string) *unstructured.Unstructured {
	w := workOf(namespace)
	w.SetName(name)
	return w
}

// collected is a Work by which an agent reports an EndpointSlice of its cell.
func collected(w *unstructured.Unstructured) *unstructured.Unstructured {
	w.SetLabels(map[string]string{
		"multiclusterservice.karmada.io/permanent-id": "mcs", "endpointslice.karmada.io/managed-by": "mcs", "work.karmada.io/permanent-id": "w",
	})
	return w
}

func patchStatus(obj client.Object, merge string) attempt {
	return func(ctx context.Context, c client.Client) error {
		copied, _ := obj.DeepCopyObject().(client.Object)
		return c.Status().Patch(ctx, copied, client.RawPatch("application/merge-patch+json", []byte(merge)))
	}
}

// sharedObjects exist on the hub of these tests.
func sharedObjects() []client.Object {
	ofCopy := workOf("karmada-es-mine")
	ofCopy.SetName("of-a-copy")
	ofCopy.SetLabels(map[string]string{bindingID: "own", "compute.datumapis.com/inventory": "cell"})
	ofCopy.SetAnnotations(map[string]string{"resourcebinding.karmada.io/namespace": guardedSpace})
	ofCopy.SetFinalizers([]string{"example.com/hold"})
	return []client.Object{
		binding("ResourceBinding", agentsSpace, "old", ofNamespace(agentsSpace)), leaseIn("karmada-cluster", "other"),
		workNamedIn("karmada-es-mine", "plain"), workNamedIn("karmada-es-other", "plain"), ofCopy,
		labelled(secret(guardedSpace, "copy")), cellObject("InstanceSlice", guardedSpace, "slice"),
	}
}

// carrying is a Work in cell mine with one manifest.
func carrying(name string, carried map[string]any) *unstructured.Unstructured {
	w := workNamedIn("karmada-es-mine", name)
	w.Object["spec"] = map[string]any{"workload": map[string]any{"manifests": []any{carried}}}
	return w
}

// replacedBy is a patch of what a Work carries.
func replacedBy(carried map[string]any) string {
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"workload": map[string]any{"manifests": []any{carried}}}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func merged(tables ...map[string]intrusion) map[string]intrusion {
	all := map[string]intrusion{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

const agentsDeployment, agentsWork = "karmada-compute-cell", "agents"

// marks are attempts to set what the add-on reads on objects that others may write.
var marks = map[string]intrusion{
	"fill the caches of the add-on": {
		cellsAgent, create(labelledAs(workOf("karmada-es-mine"), "compute.datumapis.com/inventory", "x")), "alone sets its labels",
	},
	"make a Work one of a project": {
		cellsAgent, patch(workNamedIn("karmada-es-mine", "plain"),
			`{"metadata":{"labels":{"meta.datumapis.com/upstream-cluster-name":"cluster-north"}}}`), "alone sets its labels",
	},
	"change the label of a Work": {
		cellsAgent, patch(workNamedIn("karmada-es-mine", "of-a-copy"),
			`{"metadata":{"labels":{"compute.datumapis.com/inventory":"removal"}}}`), "alone sets its labels",
	},
	"annotate a Work": {
		cellsAgent, patch(workNamedIn("karmada-es-mine", "plain"),
			`{"metadata":{"annotations":{"compute.datumapis.com/repaired-at":"2099-01-01T00:00:00Z"}}}`), "alone sets its labels",
	},
	"withdraw a project": {
		tenant, patch(namespace(guardedSpace), `{"metadata":{"annotations":{"compute.datumapis.com/keep":"false"}}}`),
		"an operator who may update",
	},
	"count answers that a project is gone": {
		tenant, patch(namespace(guardedSpace), `{"metadata":{"annotations":{"compute.datumapis.com/absent":"a,b,9"}}}`),
		"an operator who may update",
	},
	"forget a cell": {
		tenant, patch(namespace("karmada-es-mine"), `{"metadata":{"annotations":{"compute.datumapis.com/forget":"true"}}}`),
		"an operator who may update",
	},
	"change the copy of a Secret":       {tenant, patch(secret(guardedSpace, "copy"), `{"stringData":{"a":"b"}}`), "change the original"},
	"delete the copy of a Secret":       {tenant, remove(secret(guardedSpace, "copy")), "change the original"},
	"plant the copy of a ConfigMap":     {tenant, create(labelled(configMap(guardedSpace, "new"))), "change the original"},
	"delete all slices of a deployment": {tenant, removeAll(cellObject("InstanceSlice", guardedSpace, "")), "alone deletes its objects"},
	"delete a slice":                    {tenant, remove(cellObject("InstanceSlice", guardedSpace, "slice")), "alone deletes its objects"},
	"label its own credential": {
		cellsAgent, create(labelled(secret("karmada-cluster", "mine"))), "alone sets its labels",
	},
	"label its own Lease": {cellsAgent, create(labelled(leaseIn("karmada-cluster", "mine"))), "alone sets its labels"},
}

// thefts are writes of Karmada for objects of others that would take a Work or a project of the add-on.
var thefts = map[string]intrusion{
	"a hash that collides with the agent's": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", agentsWork), replacedBy(manifest("v1", "ConfigMap", "collides", agentsDeployment))),
		"carries an object of karmada-compute",
	},
	"another object of the name": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", agentsWork), replacedBy(manifest("v1", "ConfigMap", agentsSpace, agentsDeployment))),
		"carries an object of karmada-compute",
	},
	"nothing instead of the agent": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", agentsWork), `{"spec":{"workload":{"manifests":[]}}}`),
		"carries an object of karmada-compute",
	},
	"the Work of a hub namespace": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", "space"), replacedBy(manifest("v1", "ConfigMap", "collides", guardedSpace))),
		"carries an object of karmada-compute",
	},
	"the Work of a CRD": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", "crd"),
			replacedBy(manifest("v1", "ConfigMap", "collides", "instances.compute.datumapis.com"))),
		"carries an object of karmada-compute",
	},
	"the agent's Work for another binding": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", agentsWork),
			`{"metadata":{"annotations":{"resourcebinding.karmada.io/namespace":"free"}}}`), "carries an object of karmada-compute",
	},
	"an agent's own Work of the agent": {
		cellsAgent, patch(workNamedIn("karmada-es-mine", agentsWork), replacedBy(manifest("v1", "ConfigMap", "a", "b"))),
		"carries an object of karmada-compute",
	},
	"a Cell of another hub": {
		karmadaUser, create(claimed("ClusterResourceBinding", "", "compute.datumapis.com/v1alpha", "Cell", "hub")), "by copies of its own",
	},
	"an object of a project": {
		karmadaUser, create(binding("ResourceBinding", guarded, "new", ofNamespace(guarded))),
		"alone propagates from the namespaces of projects",
	},
	"a Secret of a project": {
		karmadaUser, create(claimed("ResourceBinding", guarded, "v1", "Secret", "mine")), "alone propagates from the namespaces of projects",
	},
	"an object of a project to one more cell": {
		karmadaUser, patch(binding("ResourceBinding", guarded, "old", map[string]any{}),
			`{"spec":{"clusters":[{"name":"dfw"},{"name":"ord"}]}}`),
		"alone propagates from the namespaces of projects",
	},
	"a dependency in a project": {
		karmadaUser, patch(binding("ResourceBinding", guarded, "old", map[string]any{}),
			`{"spec":{"requiredBy":[{"namespace":"a","name":"b","clusters":[{"name":"ord"}]}]}}`),
		"alone propagates from the namespaces of projects",
	},
}

// greedy are bindings of Karmada for a ClusterPropagationPolicy of another product that selects what is the add-on's.
var greedy = map[string]intrusion{
	"a greedy policy selects namespaces": {
		karmadaUser, create(claimed("ClusterResourceBinding", "", "v1", "Namespace", guardedSpace)), "sends hub namespaces",
	},
	"a greedy policy selects Secrets": {
		karmadaUser, create(claimed("ResourceBinding", guardedSpace, "v1", "Secret", "data")), "alone propagate from hub namespaces",
	},
	"a greedy policy selects the originals": {
		karmadaUser, create(claimed("ResourceBinding", guarded, "compute.datumapis.com/v1alpha", "WorkloadDeployment",
			"web")), "by copies of its own",
	},
	"a greedy policy selects a binding's resources": {
		karmadaUser, patch(binding("ResourceBinding", guardedSpace, "old", map[string]any{}),
			`{"metadata":{"annotations":{"clusterpropagationpolicy.karmada.io/name":"all"}}}`), "alone propagate from hub namespaces",
	},
}

// claimed is a binding that a ClusterPropagationPolicy has claimed.
func claimed(kind, namespace, apiVersion, of, name string) *unstructured.Unstructured {
	b := binding(kind, namespace, "claimed", map[string]any{})
	b.SetAnnotations(map[string]string{"clusterpropagationpolicy.karmada.io/name": "all"})
	b.Object["spec"] = map[string]any{"resource": map[string]any{"apiVersion": apiVersion, "kind": of, "name": name, "namespace": namespace}}
	return b
}

// theftsLegitimate are the writes of Karmada that look like these.
var theftsLegitimate = map[string]intrusion{
	"Karmada updates the agent": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", agentsWork),
			replacedBy(manifest("apps/v2", "Deployment", agentsSpace, agentsDeployment))),
		"",
	},
	"Karmada binds the agent again": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", agentsWork), `{"metadata":{"labels":{"`+bindingID+`":"b"}}}`), "",
	},
	"Karmada takes a Work back": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", "collided"),
			replacedBy(manifest("apps/v1", "Deployment", agentsSpace, agentsDeployment))),
		"",
	},
	"Karmada changes another Work": {
		karmadaUser, patch(workNamedIn("karmada-es-mine", "collided"), replacedBy(manifest("v1", "ConfigMap", "b", "c"))), "",
	},
	"the agent's Work ends": {karmadaUser, patch(workNamedIn("karmada-es-mine", agentsWork), `{"metadata":{"finalizers":null}}`), ""},
	"Karmada propagates instance types": {
		karmadaUser, create(claimed("ClusterResourceBinding", "", "compute.datumapis.com/v1alpha", "InstanceType", "small")), "",
	},
	"the root CA comes into a hub namespace": {tenant, create(configMap(guardedSpace, "kube-root-ca.crt")), ""},
	"the add-on copies a Secret":             {hubUser, create(labelled(secret(guardedSpace, "new"))), ""},
	"an operator keeps a project": {
		operator, patch(namespace(guardedSpace), `{"metadata":{"annotations":{"compute.datumapis.com/keep":"true"}}}`), "",
	},
	"a reason to delete it": {tenant, patch(namespace(guardedSpace), `{"metadata":{"annotations":{"`+breakGlass+`":"closed"}}}`), ""},
	"an object leaves a project": {
		karmadaUser, patch(binding("ResourceBinding", guarded, "old", map[string]any{}), `{"spec":{"clusters":[]}}`), "",
	},
	"Karmada deletes the binding of a project": {
		karmadaUser, patch(binding("ResourceBinding", guarded, "old", map[string]any{}),
			`{"metadata":{"finalizers":["karmada.io/binding-controller"]}}`),
		"",
	},
}

func labelledAs(w *unstructured.Unstructured, key, value string) *unstructured.Unstructured {
	w.SetLabels(map[string]string{key: value})
	return w
}

// carriedObjects are Works of the agents, a hub namespace and a CRD, and one of another object.
func carriedObjects() []client.Object {
	agents := carrying(agentsWork, manifest("apps/v1", "Deployment", agentsSpace, agentsDeployment))
	agents.SetAnnotations(map[string]string{"resourcebinding.karmada.io/namespace": agentsSpace})
	return []client.Object{
		agents, carrying("space", manifest("v1", "Namespace", "", guardedSpace)), carrying("collided", manifest("v1", "ConfigMap", "a", "b")),
		carrying("crd", manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "instances.compute.datumapis.com")),
	}
}

// checkReservedNames checks that no other user creates the namespaces of the agents and of the grants of sessions before
// the chart does, whatever their names are.
func checkReservedNames(t *testing.T, admin client.Client) {
	t.Helper()
	applyGuards(t, admin, offered, set{"agents.namespace": "not-yet-agents", "sessions.namespace": "not-yet-grants"})
	early, installer := unprivileged(t, tenant), unprivileged(t, operator)
	for _, name := range []string{"not-yet-agents", "not-yet-grants"} {
		if err := create(namespace(name))(t.Context(), early); err == nil || !strings.Contains(err.Error(), "are reserved") {
			t.Errorf("%s: %v", name, err)
		}
		if err := create(namespace(name))(t.Context(), installer); err != nil {
			t.Error(err)
		}
	}
}
