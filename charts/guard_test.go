// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

const (
	guard = "ValidatingAdmissionPolicy/karmada-compute-guard"
	// guarded is a project that is a namespace, guardedSpace its hub namespace, and free a namespace of another tenant.
	guarded, guardedSpace, free = "guarded", "ns-00000000-0000-4000-8000-00000000a001", "guard-free"
	grantSpace                  = "karmada-compute-sessions"
)

// Users of a hub that the add-on shares. Each has the rights of RBAC for what it tries.
const (
	tenant      = "a-tenant"
	cellsAgent  = "system:karmada:agent:mine"
	karmadaUser = "system:karmada:karmada-controller-manager"
	collector   = "system:serviceaccount:kube-system:generic-garbage-collector"
	operator    = "guard-operator"
	streams     = "system:serviceaccount:karmada-system:karmada-compute-sessions"
)

var memberships = map[string][]string{cellsAgent: {"system:karmada:agents"}, karmadaUser: {"system:masters"}}

// unprivileged is a client of a user of the hub, in groups, whose writes are dry runs.
func unprivileged(t testing.TB, user string, groups ...string) client.Client {
	t.Helper()
	config := rest.CopyConfig(testenv.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	config.WarningHandler, config.QPS = rest.NoWarnings{}, -1
	c, err := client.New(config, client.Options{Scheme: testenv.Scheme(t, v1alpha.AddToScheme)})
	if err != nil {
		t.Fatal(err)
	}
	return client.NewDryRunClient(c)
}

func ofKind(apiVersion, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec}}
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// binding returns a binding that brings an object into a cell.
func binding(kind, namespace, name string, resource map[string]any) *unstructured.Unstructured {
	resource["apiVersion"], resource["kind"], resource["name"] = "v1", "Secret", "credential"
	return ofKind("work.karmada.io/v1alpha2", kind, namespace, name,
		map[string]any{"resource": resource, "clusters": []any{map[string]any{"name": "dfw"}}})
}

func ofNamespace(namespace string) map[string]any { return map[string]any{"namespace": namespace} }

func policyOf(kind, namespace string) *unstructured.Unstructured {
	return ofKind("policy.karmada.io/v1alpha1", kind, namespace, "all", map[string]any{
		"resourceSelectors": []any{map[string]any{"apiVersion": "v1", "kind": "Pod"}}, "overrideRules": []any{},
	})
}

// inCity is a namespace with the label of a city.
func inCity(namespace *corev1.Namespace) *corev1.Namespace {
	namespace.Labels = map[string]string{v1alpha.LabelTopologyCity: "dfw"}
	return namespace
}

func annotated(namespace *corev1.Namespace, name string) *corev1.Namespace {
	namespace.Annotations = map[string]string{name: `{"addresses":["203.0.113.0/24"]}`}
	return namespace
}

// workOf is a Work that carries nothing.
func workOf(namespace string) *unstructured.Unstructured {
	return ofKind("work.karmada.io/v1alpha1", "Work", namespace, "guard", map[string]any{"workload": map[string]any{}})
}

func services(namespace string) *unstructured.Unstructured {
	return ofKind("networking.karmada.io/v1alpha1", "MultiClusterService", namespace, "web", map[string]any{"types": []any{"CrossCluster"}})
}

// ghost is the Lease of a replica that does not run, for 63 years.
func ghost() *coordinationv1.Lease {
	l := lease("karmada-compute-replica-ghost")
	l.Spec.LeaseDurationSeconds = new(int32(2_000_000_000))
	return l
}

// intrusion is a request of a tenant or of an agent that must be refused.
type intrusion struct {
	by  string
	try attempt
	// refusal is a part of the message.
	refusal string
}

var intrusions = map[string]intrusion{
	"propagate a Pod of a project":  {tenant, create(policyOf("PropagationPolicy", guarded)), "create a Workload instead"},
	"override what a project sends": {tenant, create(policyOf("OverridePolicy", guarded)), "create a Workload instead"},
	"bind an object of a project": {
		tenant, create(binding("ResourceBinding", guarded, "new", ofNamespace(guarded))), "create a Workload instead",
	},
	"write a Work in a project":        {tenant, create(workOf(guarded)), "create a Workload instead"},
	"expose the Services of a project": {tenant, create(services(guarded)), "create a Workload instead"},
	"propagate from a hub namespace":   {tenant, create(policyOf("PropagationPolicy", guardedSpace)), "create a Workload instead"},
	"deploy in a hub namespace":        {tenant, create(deploymentIn(guardedSpace)), "create a Workload instead"},
	"report for a copy": {
		tenant, patch(deploymentNamed(guardedSpace), `{"spec":{"suspended":true}}`), "create a Workload instead",
	},
	"bind a Secret of another namespace": {
		tenant, create(binding("ResourceBinding", free, "new", ofNamespace("karmada-cluster"))), "of its own namespace only",
	},
	"bind an object without a namespace": {
		tenant, create(binding("ResourceBinding", free, "new", map[string]any{})), "of its own namespace only",
	},
	"turn a binding to another namespace": {
		tenant, patch(binding("ResourceBinding", free, "old", map[string]any{}),
			`{"spec":{"resource":{"namespace":"karmada-cluster"}}}`), "of its own namespace only",
	},
	"give a binding the identity of another": {
		tenant, patch(binding("ResourceBinding", free, "old", map[string]any{}),
			`{"metadata":{"labels":{"resourcebinding.karmada.io/permanent-id":"theirs"}}}`), "is Karmada's",
	},
	"bind a CustomResourceDefinition": {
		tenant, create(binding("ClusterResourceBinding", "", "new", map[string]any{})), "Karmada alone writes",
	},
	"send a Work to a cell":                {tenant, create(workOf("karmada-es-mine")), "Works of a cell"},
	"send a Work to another cell":          {cellsAgent, create(workOf("karmada-es-other")), "Works of a cell"},
	"announce a replica that does not run": {cellsAgent, create(ghost()), "these Leases divide the projects"},
	"freeze the record of the shards":      {cellsAgent, create(lease("karmada-compute-shards")), "these Leases divide the projects"},
	"prolong the Lease of a replica": {
		cellsAgent, patch(lease("karmada-compute-replica-a"), `{"spec":{"leaseDurationSeconds":2000000000}}`),
		"these Leases divide the projects",
	},
	"delete the Lease of a replica": {tenant, remove(lease("karmada-compute-replica-a")), "these Leases divide the projects"},
	"mark a project": {
		tenant, create(configMap("karmada-system", "karmada-compute-project-x")), "writes its ConfigMaps",
	},
	"delete the mark of a project": {
		tenant, remove(configMap("karmada-system", "karmada-compute-project-guard")), "writes its ConfigMaps",
	},
	"write the credential of another cell": {cellsAgent, create(secret("karmada-cluster", "other")), "of its own cell only"},
	"write a name of a Workload": {
		tenant, create(labelled(dnsName("guard.example", "guard.example"), ofWorkload)), "its labels",
	},
	"delete a name of a Workload": {tenant, remove(dnsName("guarded.example", "")), "its labels"},
	"take a name from a Workload": {
		tenant, patch(dnsName("guarded.example", ""), `{"metadata":{"labels":{"compute.datumapis.com/workload-uid":null}}}`), "its labels",
	},
	"grant itself a session": {tenant, create(configMap(grantSpace, "session-1")), "writes its ConfigMaps"},
	"take the name of a hub namespace": {
		tenant, create(labelled(namespace("ns-00000000-0000-4000-8000-00000000a002"))), "reserved for the hub namespaces",
	},
	"make a namespace one of a project": {tenant, create(labelled(namespace("guard-mine"))), "are reserved for its hub namespaces"},
	"label a namespace as one of a project": {
		tenant, patch(namespace(free), `{"metadata":{"labels":{"compute.datumapis.com/project-uid":"north-uid"}}}`),
		"are reserved for its hub namespaces",
	},
	"confirm a Cluster as a cell of a city": {
		tenant, patch(namespace("karmada-es-mine"), `{"metadata":{"labels":{"topology.datum.net/city-code":"dfw"}}}`), "a cell of the city",
	},
	"configure the load balancer of a cell": {
		tenant, patch(namespace("karmada-es-mine"), balancer203),
		"configure the load balancer",
	},
	"configure it before the cell exists": {
		tenant, create(annotated(namespace("karmada-es-newer"), "compute.datumapis.com/load-balancer")), "are reserved",
	},
	"take what another project runs for an earlier hub": {
		tenant, patch(namespace(free), adoption), "which Instances of an earlier hub are the project's",
	},
	"take it with a new namespace": {
		tenant, create(annotated(namespace("guard-mine"), "compute.datumapis.com/adopted")),
		"which Instances of an earlier hub are the project's",
	},
	"lose what the project runs for an earlier hub": {
		tenant, patch(namespace("guard-adopted"), `{"metadata":{"annotations":{"compute.datumapis.com/adopted":null}}}`),
		"which Instances of an earlier hub are the project's",
	},
	"confirm it before it exists": {tenant, create(inCity(namespace("karmada-es-new"))), "are reserved"},
	"withdraw a cell from its city": {
		tenant, patch(namespace("karmada-es-other"), `{"metadata":{"labels":{"topology.datum.net/city-code":null}}}`), "a cell of the city",
	},
	"give a hub namespace to another project": {
		tenant, patch(namespace(guardedSpace), `{"metadata":{"labels":{"compute.datumapis.com/project-uid":"x"}}}`), "prove whose it is",
	},
	"take the proof from a hub namespace": {
		tenant, patch(namespace(guardedSpace), `{"metadata":{"labels":{"compute.datumapis.com/project-uid":null}}}`), "prove whose it is",
	},
}

// adoption gives a namespace the identity that a project had on an earlier hub.
const adoption = `{"metadata":{"annotations":{"compute.datumapis.com/adopted":"{}"}}}`

// legitimate are requests of others that the hub must accept.
var legitimate = map[string]intrusion{
	"propagate from another namespace": {tenant, create(policyOf("PropagationPolicy", free)), ""},
	"override in another namespace":    {tenant, create(policyOf("OverridePolicy", free)), ""},
	"bind an object of its namespace": {
		tenant, patch(binding("ResourceBinding", free, "old", map[string]any{}), `{"spec":{"clusters":[]}}`), "",
	},
	"create a namespace": {tenant, create(namespace("guard-mine")), ""},
	"make a namespace a project": {
		tenant, patch(namespace(free), `{"metadata":{"labels":{"compute.datumapis.com/project":"true"}}}`), "",
	},
	"adopt what an earlier hub ran":       {operator, patch(namespace(free), adoption), ""},
	"annotate a project that has adopted": {tenant, patch(namespace("guard-adopted"), `{"metadata":{"annotations":{"a":"b"}}}`), ""},
	"label the namespace of a cell":       {tenant, patch(namespace("karmada-es-other"), `{"metadata":{"labels":{"a":"b"}}}`), ""},
	"annotate the namespace of a cell":    {tenant, patch(namespace("karmada-es-other"), `{"metadata":{"annotations":{"a":"b"}}}`), ""},
	"configure a load balancer": {
		operator, patch(namespace("karmada-es-mine"), balancer203), "",
	},
	"confirm a cell": {
		operator, patch(namespace("karmada-es-mine"), `{"metadata":{"labels":{"topology.datum.net/city-code":"dfw"}}}`), "",
	},
	"annotate a hub namespace":    {tenant, patch(namespace(guardedSpace), `{"metadata":{"annotations":{"a":"b"}}}`), ""},
	"write a Lease of its own":    {cellsAgent, create(lease("karmada-agent-mine")), ""},
	"write Works of its own cell": {cellsAgent, create(workOf("karmada-es-mine")), ""},
	"write its own credential":    {cellsAgent, create(secret("karmada-cluster", "mine-impersonator")), ""},
	"write a ConfigMap":           {tenant, create(configMap("karmada-system", "theirs-too")), ""},
	"collect a binding": {
		collector, patch(binding("ResourceBinding", guarded, "old", map[string]any{}), `{"metadata":{"finalizers":null}}`), "",
	},
	"collect a copy": {
		collector, patch(deploymentNamed(guardedSpace), `{"metadata":{"finalizers":["foregroundDeletion"]}}`), "",
	},
	"take a Lease over":         {hubUser, patch(lease("karmada-compute-replica-a"), `{"spec":{"holderIdentity":"a"}}`), ""},
	"mark a project":            {hubUser, create(configMap("karmada-system", "karmada-compute-project-x")), ""},
	"create a hub namespace":    {hubUser, create(labelled(namespace("ns-00000000-0000-4000-8000-00000000a002"))), ""},
	"deploy in a hub namespace": {hubUser, create(deploymentIn(guardedSpace)), ""},
	"write a name of its own":   {tenant, create(dnsName("tenant.example", "tenant.example")), ""},
	"write a name":              {hubUser, create(labelled(dnsName("guard.example", "guard.example"), ofWorkload)), ""},
	"grant a session":           {streams, create(configMap(grantSpace, "session-1")), ""},
	"offer an instance type": {
		tenant, create(ofKind("compute.datumapis.com/v1alpha", "InstanceType", "", "guard",
			map[string]any{"resources": map[string]any{"cpu": "1", "memory": "1Gi"}})), "",
	},
	// Of what the tenant may not do, as Karmada does it.
	"propagate another namespace": {karmadaUser, create(claimed("ClusterResourceBinding", "", "v1", "Namespace", free)), ""},
	"end the claim of a policy": {
		karmadaUser, patch(binding("ResourceBinding", guardedSpace, "old", map[string]any{}), `{"metadata":{"annotations":null}}`), "",
	},
	"bind what has no namespace":  {karmadaUser, create(binding("ClusterResourceBinding", "", "new", map[string]any{})), ""},
	"send a Work for Karmada":     {karmadaUser, create(workOf("karmada-es-other")), ""},
	"report a status for Karmada": {karmadaUser, patch(deploymentNamed(guardedSpace), `{"spec":{"suspended":true}}`), ""},
	"an operator restores a label": {
		operator, patch(namespace(guardedSpace), `{"metadata":{"labels":{"compute.datumapis.com/project-uid":"north-uid","a":"b"}}}`), "",
	},
	"an operator deletes the Lease": {operator, remove(lease("karmada-compute-replica-a")), ""},
}

func deploymentNamed(namespace string) *v1alpha.WorkloadDeployment {
	d := deploymentIn(namespace)
	d.Name = "guard"
	return d
}

// TestGuardOfTheHub: what a tenant of the hub and the agent of a cell may do by RBAC reaches nothing of the add-on and
// of its projects, in both modes. Without the guard each of it is accepted, and with it Karmada, its agents and the
// add-on still can.
func TestGuardOfTheHub(t *testing.T) {
	admin := clientOf(t, "")
	setUpGuarded(t, admin)
	awaitInForce(t, admin)
	refused := merged(intrusions, greedy, bindings, reserved, leases, marks, thefts, told)
	accepted := merged(legitimate, sharedLegitimate, theftsLegitimate, toldLegitimate)
	clients := map[string]client.Client{}
	for _, attempts := range []map[string]intrusion{refused, accepted} {
		for _, one := range attempts {
			clients[one.by] = unprivileged(t, one.by, memberships[one.by]...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		one := refused[name]
		if err := one.try(t.Context(), clients[one.by]); err != nil {
			t.Errorf("%s is refused without the guard: %v", name, err)
		}
	}
	for mode, sets := range map[string]set{"milo": {}, "namespaces": {"projects.mode": "namespaces"}} {
		applyGuards(t, admin, sets, offered, set{"agents.namespace": agentsSpace})
		for _, name := range slices.Sorted(maps.Keys(refused)) {
			one := refused[name]
			if err := one.try(t.Context(), clients[one.by]); err == nil || !strings.Contains(err.Error(), one.refusal) {
				t.Errorf("%s: %s: %v", mode, name, err)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(accepted)) {
			one := accepted[name]
			if err := one.try(t.Context(), clients[one.by]); err != nil {
				t.Errorf("%s: %s: %v", mode, name, err)
			}
		}
		removeGuards(t, admin)
	}
	checkReservedNames(t, admin)
}

// setUpGuarded creates what is attacked, and gives every user the rights of RBAC.
func setUpGuarded(t testing.TB, admin client.Client) {
	t.Helper()
	removeGuards(t, admin)
	for _, name := range []string{
		free, grantSpace, agentsSpace, "karmada-cluster", "karmada-system", "karmada-es-mine", "karmada-es-other",
	} {
		ensureNamespace(t, admin, name)
	}
	if err := admin.Patch(t.Context(), namespace("karmada-es-other"),
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"topology.datum.net/city-code":"dfw"}}}`))); err != nil {
		t.Fatal(err)
	}
	// Replicas of other tests may have left the record of the shards.
	if err := client.IgnoreNotFound(admin.Delete(t.Context(), lease("karmada-compute-shards"))); err != nil {
		t.Fatal(err)
	}
	project := namespace(guarded)
	project.Labels = map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceProject}
	objects := []client.Object{
		project, annotated(namespace("guard-adopted"), "compute.datumapis.com/adopted"), labelled(namespace(guardedSpace)),
		deploymentNamed(guardedSpace), lease("karmada-compute-replica-a"),
		configMap("karmada-system", "karmada-compute-project-guard"),
		binding("ResourceBinding", free, "old", ofNamespace(free)), binding("ResourceBinding", guarded, "old", ofNamespace(guarded)),
		binding("ResourceBinding", guardedSpace, "old", ofNamespace(guardedSpace)),
		labelled(dnsName("guarded.example", "guarded.example"), ofWorkload),
	}
	objects = slices.Concat(objects, sharedObjects(), carriedObjects(), toldObjects())
	role := &rbacv1.ClusterRole{ObjectMeta: named("", "guard-test"), Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{
			"", "work.karmada.io", "policy.karmada.io", "networking.karmada.io", "coordination.k8s.io", "externaldns.k8s.io",
			"events.k8s.io", v1alpha.GroupVersion.Group,
		},
		Resources: []string{"*"}, Verbs: []string{"*"},
	}}}
	bound := &rbacv1.ClusterRoleBinding{
		ObjectMeta: named("", "guard-test"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
	}
	for _, user := range []string{tenant, cellsAgent, hubUser, collector, streams} {
		bound.Subjects = append(bound.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user})
	}
	administrators := &rbacv1.ClusterRoleBinding{
		ObjectMeta: named("", operator), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operator}},
	}
	for _, object := range append(objects, role, bound, administrators) {
		ensure(t, admin, object)
		t.Cleanup(func() { unregister(t, admin, object) })
	}
}

// guards are the names of the policies, which their bindings have, too.
var guards = []string{
	"karmada-compute-guard", "karmada-compute-hub-namespaces", "karmada-compute-claims", "karmada-compute-annotations",
	"karmada-compute-events",
}

// applyGuards applies the policies of the chart.
func applyGuards(t testing.TB, admin client.Client, sets ...set) {
	t.Helper()
	objects := render(t, append(sets, parts["hub"])...)
	var applied []*unstructured.Unstructured
	for _, name := range guards {
		for _, kind := range []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"} {
			applied = append(applied, find(objects, kind+"/"+name))
		}
	}
	install(t, admin, applied)
}

func removeGuards(t testing.TB, admin client.Client) {
	t.Helper()
	for _, name := range append(guards, "karmada-compute", "karmada-compute-deletions", "karmada-compute-projects") {
		binding := ofKind("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", name, nil)
		if err := admin.Delete(t.Context(), binding); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	awaitInForce(t, admin)
}
