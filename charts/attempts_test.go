// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// attempt is a request with a credential. Writes are dry runs.
type attempt func(ctx context.Context, c client.Client) error

func get(obj client.Object) attempt {
	return func(ctx context.Context, c client.Client) error {
		return c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	}
}

func list(obj client.ObjectList, options ...client.ListOption) attempt {
	return func(ctx context.Context, c client.Client) error { return c.List(ctx, obj, options...) }
}

func create(obj client.Object) attempt {
	return func(ctx context.Context, c client.Client) error {
		copied, _ := obj.DeepCopyObject().(client.Object)
		return c.Create(ctx, copied)
	}
}

func remove(obj client.Object) attempt {
	return func(ctx context.Context, c client.Client) error { return c.Delete(ctx, obj) }
}

func patch(obj client.Object, merge string) attempt {
	return func(ctx context.Context, c client.Client) error {
		copied, _ := obj.DeepCopyObject().(client.Object)
		return c.Patch(ctx, copied, client.RawPatch(types.MergePatchType, []byte(merge)))
	}
}

// secret and the like are objects that exist.
func secret(namespace, name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: named(namespace, name)}
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: named(namespace, name)}
}

func namespace(name string) *corev1.Namespace { return &corev1.Namespace{ObjectMeta: named("", name)} }

func workNamed(name string) *workv1alpha1.Work {
	return &workv1alpha1.Work{ObjectMeta: named(cellSpace, name)}
}

func lease(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: named("karmada-system", name)}
}

// attacks are attempts with the add-on's credential for the hub.
var attacks = map[string]attempt{
	"read the credential of a cell":          get(secret(karmadas, "dfw")),
	"list the credentials of the cells":      list(&corev1.SecretList{}, client.InNamespace(karmadas)),
	"list all Secrets":                       list(&corev1.SecretList{}),
	"list all ConfigMaps":                    list(&corev1.ConfigMapList{}),
	"read a Secret in its own namespace":     get(secret("karmada-system", "karmada-cert")),
	"read a hub namespace that is not bound": get(secret(otherSpace, "copy")),

	"bind the role where the cells' credentials are": create(grant(karmadas, "karmada-compute", "karmada-compute-namespace", hubUser)),
	"bind the role in a namespace that it names so":  create(grant(likeSpace, "karmada-compute", "karmada-compute-namespace", hubUser)),
	"bind the role to somebody else":                 create(grant(otherSpace, "karmada-compute", "karmada-compute-namespace", "mallory")),
	"bind the role by another name":                  create(grant(otherSpace, "mine", "karmada-compute-namespace", hubUser)),
	"bind another role":                              create(grant(otherSpace, "karmada-compute", "cluster-admin", hubUser)),
	"add a subject": patch(grant(ownSpace, "karmada-compute", "", ""),
		`{"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"mallory"}]}`),

	"create a namespace":                create(namespace("mine")),
	"create a namespace with its label": create(labelled(namespace("mine"))),
	"create one without its label":      create(namespace("ns-00000000-0000-4000-8000-000000000009")),
	"label a foreign namespace": patch(namespace(karmadas),
		`{"metadata":{"labels":{"meta.datumapis.com/upstream-cluster-name":"cluster-north"}}}`),
	"label one that is named so": patch(namespace(likeSpace),
		`{"metadata":{"labels":{"meta.datumapis.com/upstream-cluster-name":"cluster-north"}}}`),
	"take the label off a hub namespace": patch(namespace(ownSpace),
		`{"metadata":{"labels":{"meta.datumapis.com/upstream-cluster-name":null}}}`),
	"delete a foreign namespace":       remove(namespace(karmadas)),
	"label the namespace of a cell":    patch(namespace(cellSpace), `{"metadata":{"labels":{"topology.datum.net/city-code":"dfw","a":"b"}}}`),
	"annotate the namespace of a cell": patch(namespace(cellSpace), `{"metadata":{"annotations":{"a":"b"}}}`),
	"delete the namespace of a cell":   remove(namespace(cellSpace)),

	"write a ConfigMap elsewhere":             create(configMap("default", "mine")),
	"write a foreign ConfigMap of its space":  patch(configMap("karmada-system", "theirs"), `{"data":{"a":"b"}}`),
	"create a foreign ConfigMap of its space": create(configMap("karmada-system", "mine")),
	"create a Secret in its own namespace":    create(secret("karmada-system", "mine")),
	"take Karmada's Lease":                    remove(lease("karmada-scheduler")),
	"ask for a token of a ServiceAccount": create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ownSpace, Name: "token", Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"},
		},
		Type: corev1.SecretTypeServiceAccountToken,
	}),

	"write a Work outside of the execution namespaces": create(labelled(work("default", "mine", manifest("v1", "Namespace", "", ownSpace)))),
	"write a Work without its label":                   create(work(cellSpace, "mine", manifest("v1", "Namespace", "", ownSpace))),
	"send a ClusterRoleBinding to a cell": create(labelled(work(cellSpace, "mine",
		manifest("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "mine")))),
	"send another namespace to a cell": create(labelled(work(cellSpace, "mine", manifest("v1", "Namespace", "", "kube-system")))),
	"send a deployment elsewhere": create(labelled(work(cellSpace, "mine",
		manifest("compute.datumapis.com/v1alpha", "WorkloadDeployment", "default", "mine")))),
	"change what its own Work carries": patch(workNamed("own"),
		`{"spec":{"workload":{"manifests":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"mine"}}]}}}`),
	"change what a Work of Karmada carries": patch(workNamed("of-a-copy"), `{"spec":{"workload":{"manifests":[]}}}`),
	"change a foreign Work":                 patch(workNamed("foreign"), `{"spec":{"suspendDispatching":true}}`),
	"label a foreign Work": patch(workNamed("foreign"),
		`{"metadata":{"labels":{"meta.datumapis.com/upstream-cluster-name":"cluster-north"}}}`),
	"delete a foreign Work":              remove(workNamed("foreign")),
	"let go of a foreign Work that ends": patch(workNamed("preserved-of-another"), `{"metadata":{"finalizers":null}}`),
	"change an agent's Work that ends":   patch(workNamed("preserved"), `{"spec":{"suspendDispatching":true}}`),
	"label an agent's Work that ends":    patch(workNamed("preserved"), `{"metadata":{"labels":{"a":"b"}}}`),

	"write a name of somebody else": patch(dnsName("theirs.example", ""), `{"metadata":{"labels":{"a":"b"}}}`),
	"take over a name of somebody else": patch(dnsName("theirs.example", ""),
		`{"metadata":{"labels":{"compute.datumapis.com/workload-uid":"uid"}}}`),
	"delete a name of somebody else":   remove(dnsName("theirs.example", "")),
	"write a name elsewhere":           create(inSpace(dnsName("shop.example", "shop.example"), "default")),
	"write a name that is not its own": create(labelled(dnsName("shop.example", "bank.example"), ofWorkload)),
	"write a name without its labels":  create(dnsName("shop.example", "shop.example")),
	"write another record than addresses": patch(dnsName("ours.example", ""),
		`{"spec":{"endpoints":[{"dnsName":"ours.example","recordType":"TXT"}]}}`),

	"deploy elsewhere":    create(deploymentIn("default")),
	"propagate elsewhere": create(propagationIn("default")),
}

// allowed are the requests of the controllers.
var allowed = map[string]attempt{
	// The other readers of the Works of a cell.
	"list all RoleBindings":      list(&rbacv1.RoleBindingList{}),
	"read a copy":                get(secret(ownSpace, "copy")),
	"list copies":                list(&corev1.SecretList{}, client.InNamespace(ownSpace)),
	"write a copy":               create(labelled(configMap(ownSpace, "app"))),
	"write a snapshot":           create(labelled(configMap(ownSpace, "app.snapshot-0123456789abcdef"))),
	"delete a copy":              remove(secret(ownSpace, "copy")),
	"create a hub namespace":     create(labelled(namespace("ns-00000000-0000-4000-8000-000000000009"))),
	"confirm the city of a cell": patch(namespace(cellSpace), `{"metadata":{"labels":{"topology.datum.net/city-code":"dfw"}}}`),
	"look for agents of cells":   list(&rbacv1.ClusterRoleBindingList{}),
	"label a hub namespace":      patch(namespace(otherSpace), `{"metadata":{"labels":{"compute.datumapis.com/project-namespace-uid":"a"}}}`),
	"delete a hub namespace":     remove(namespace(otherSpace)),
	"bind its role":              create(grant(otherSpace, "karmada-compute", "karmada-compute-namespace", hubUser)),
	"list its RoleBindings":      list(&rbacv1.RoleBindingList{}, client.MatchingFields{"metadata.name": "karmada-compute"}),
	"restore a RoleBinding":      patch(grant(ownSpace, "karmada-compute", "", ""), `{"metadata":{"labels":{"a":"b"}}}`),
	"mark a project":             create(configMap("karmada-system", "karmada-compute-project-north")),
	"create its CA":              create(secret("karmada-system", "karmada-compute-webhook-ca")),
	"create the key of hashes":   create(secret("karmada-system", "karmada-compute-data-key")),
	"renew a Lease":              remove(lease("karmada-compute-replica-a")),
	"send a hub namespace":       create(labelled(work(cellSpace, "mine", manifest("v1", "Namespace", "", ownSpace)))),
	"send a Cell":                create(labelled(work(cellSpace, "mine", manifest("compute.datumapis.com/v1alpha", "Cell", "", "hub")))),
	"remove a deployment": create(labelled(work(cellSpace, "mine",
		manifest("compute.datumapis.com/v1alpha", "WorkloadDeployment", ownSpace, "web")))),
	"nudge a Work of Karmada":  patch(workNamed("of-a-copy"), `{"metadata":{"annotations":{"a":"b"}},"spec":{"suspendDispatching":false}}`),
	"delete a Work of Karmada": remove(workNamed("of-a-copy")),
	"let go of its own Work":   patch(workNamed("own"), `{"metadata":{"finalizers":null}}`),
	"label its own Work again": patch(workNamed("unlabelled"),
		`{"metadata":{"labels":{"meta.datumapis.com/upstream-cluster-name":"cluster-north"}}}`),
	"let go of an agent's Work": patch(workNamed("preserved"), `{"metadata":{"finalizers":null}}`),
	"write a name":              create(labelled(dnsName("shop.example", "shop.example"), ofWorkload)),
	"change a name": patch(dnsName("ours.example", ""),
		`{"spec":{"endpoints":[{"dnsName":"ours.example","recordType":"A","targets":["203.0.113.7"]}]}}`),
	"delete a name":              remove(dnsName("ours.example", "")),
	"deploy in a hub namespace":  create(deploymentIn(ownSpace)),
	"propagate existing objects": create(propagationIn(ownSpace)),
}

// ofWorkload is the label of names that the add-on writes.
var ofWorkload = map[string]string{v1alpha.LabelWorkloadUID: "uid"}

// dnsName is a DNSEndpoint with a record of a name.
func dnsName(name, of string) *unstructured.Unstructured {
	record := ofKind("externaldns.k8s.io/v1alpha1", "DNSEndpoint", "karmada-system", name, map[string]any{
		"endpoints": []any{map[string]any{"dnsName": of, "recordType": "A", "targets": []any{"203.0.113.7"}}},
	})
	return record
}

func inSpace[T client.Object](obj T, namespace string) T {
	obj.SetNamespace(namespace)
	return labelled(obj, ofWorkload)
}

func deploymentIn(namespace string) *v1alpha.WorkloadDeployment {
	return &v1alpha.WorkloadDeployment{ObjectMeta: named(namespace, "web"), Spec: v1alpha.WorkloadDeploymentSpec{
		WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "uid"}, PlacementName: "main", CityCode: "DFW",
		ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1, InstanceManagementPolicy: v1alpha.OrderedReady},
		Template: v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
			Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: &v1alpha.SandboxRuntime{
				Containers: []v1alpha.SandboxContainer{{Name: "app", Image: "registry.example/app:1"}},
			}},
			NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
		}},
	}}
}

func propagationIn(namespace string) *policyv1alpha1.PropagationPolicy {
	return &policyv1alpha1.PropagationPolicy{ObjectMeta: named(namespace, "city-dfw"), Spec: policyv1alpha1.PropagationSpec{
		ResourceSelectors: []policyv1alpha1.ResourceSelector{{APIVersion: "compute.datumapis.com/v1alpha", Kind: "WorkloadDeployment"}},
	}}
}
