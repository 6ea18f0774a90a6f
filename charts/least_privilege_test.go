// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// The users that the add-on is on the hub, in an installation with the defaults of the chart.
const (
	hubUser     = "system:serviceaccount:karmada-system:karmada-compute"
	webhookUser = "system:serviceaccount:karmada-system:karmada-compute-webhook"
)

const (
	// ownSpace and otherSpace are hub namespaces, the first with the RoleBinding of the add-on.
	ownSpace   = "ns-00000000-0000-4000-8000-000000000001"
	otherSpace = "ns-00000000-0000-4000-8000-000000000002"
	// likeSpace has the name of a hub namespace, and not its label.
	likeSpace = "ns-00000000-0000-4000-8000-000000000003"
	cellSpace = "karmada-es-stolen"
	karmadas  = "karmada-cluster"
)

// clientOf returns a client of a user.
func clientOf(t *testing.T, user string) client.Client {
	t.Helper()
	config := rest.CopyConfig(testenv.Config(t))
	if user != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	}
	config.QPS = -1
	scheme := testenv.Scheme(t, v1alpha.AddToScheme, workv1alpha1.Install, policyv1alpha1.Install)
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// ours are the labels of an object of the add-on on the hub.
func ours() map[string]string {
	return map[string]string{
		v1alpha.LabelProject: "cluster-north", v1alpha.LabelProjectNamespace: "default", v1alpha.LabelProjectUID: "north-uid",
	}
}

func labelled[T client.Object](obj T, more ...map[string]string) T {
	labels := ours()
	for _, one := range more {
		maps.Copy(labels, one)
	}
	obj.SetLabels(labels)
	return obj
}

// work is a Work that carries one manifest.
func work(namespace, name string, manifest map[string]any) *workv1alpha1.Work {
	raw, err := json.Marshal(manifest)
	if err != nil {
		panic(err)
	}
	return &workv1alpha1.Work{ObjectMeta: named(namespace, name), Spec: workv1alpha1.WorkSpec{
		Workload: workv1alpha1.WorkloadTemplate{Manifests: []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}},
	}}
}

// ofKarmada is a Work that Karmada creates from an object in a namespace.
func ofKarmada(name, from string) *workv1alpha1.Work {
	w := work(cellSpace, name, manifest("v1", "ConfigMap", from, "app"))
	w.Annotations = map[string]string{"resourcebinding.karmada.io/namespace": from}
	return w
}

func manifest(apiVersion, kind, namespace, name string) map[string]any {
	metadata := map[string]any{"name": name, "labels": map[string]any{"pod-security.kubernetes.io/enforce": "baseline"}}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
}

func grant(namespace, name, role, user string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: named(namespace, name), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}
}

// setUpHub applies the chart at the hub and creates the other objects there. It waits until a user has its permissions
// and limits.
func setUpHub(t *testing.T, user string, sets ...set) {
	t.Helper()
	admin := clientOf(t, "")
	// Without Milo the add-on has more rights, since projects are on the hub: TestApply grants them, too.
	var bindings rbacv1.ClusterRoleBindingList
	if err := admin.List(t.Context(), &bindings); err != nil {
		t.Fatal(err)
	}
	for i := range bindings.Items {
		if strings.HasPrefix(bindings.Items[i].Name, "karmada-compute") {
			if err := admin.Delete(t.Context(), &bindings.Items[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	apply(t, admin, render(t, append(sets, parts["hub"])...))
	for _, name := range []string{karmadas, cellSpace, likeSpace, "default"} {
		ensureNamespace(t, admin, name)
	}
	for _, name := range []string{ownSpace, otherSpace} {
		ensure(t, admin, labelled(&corev1.Namespace{ObjectMeta: named("", name)}))
		ensure(t, admin, labelled(&corev1.Secret{ObjectMeta: named(name, "copy")}))
	}
	for _, obj := range []client.Object{
		&corev1.Secret{ObjectMeta: named(karmadas, "dfw"), StringData: map[string]string{"token": "admin of the cell"}},
		&corev1.Secret{ObjectMeta: named("karmada-system", "karmada-cert")},
		&corev1.ConfigMap{ObjectMeta: named("karmada-system", "theirs")},
		&coordinationv1.Lease{ObjectMeta: named("karmada-system", "karmada-scheduler")},
		&coordinationv1.Lease{ObjectMeta: named("karmada-system", "karmada-compute-replica-a")},
		grant(ownSpace, "karmada-compute", "karmada-compute-namespace", hubUser),
		ofKarmada("foreign", "default"), ofKarmada("of-a-copy", ownSpace),
		labelled(work(cellSpace, "own", manifest("v1", "Namespace", "", ownSpace))),
	} {
		ensure(t, admin, obj)
	}
	awaitLimits(t, user)
}

func ensure(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
}

// awaitLimits waits until the API server has loaded roles and policy into its caches: until an allowed request
// succeeds, and a request that only the policy refuses fails.
func awaitLimits(t *testing.T, user string) {
	t.Helper()
	limited := client.NewDryRunClient(clientOf(t, user))
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := limited.Create(ctx, configMap("karmada-system", "karmada-compute-project-probe"))
		if user == hubUser {
			err = errors.Join(err, limited.Get(ctx, client.ObjectKey{Namespace: ownSpace, Name: "copy"}, &corev1.Secret{}))
		}
		return err == nil && apierrors.IsForbidden(limited.Create(ctx, configMap("karmada-system", "probe"))), nil
	}); err != nil {
		t.Fatal("the limits of the add-on do not come into force")
	}
}

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

	"list all RoleBindings": list(&rbacv1.RoleBindingList{}),

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
	"delete a foreign Work": remove(workNamed("foreign")),

	"deploy elsewhere":    create(deploymentIn("default")),
	"propagate elsewhere": create(propagationIn("default")),
}

// allowed are the requests of the controllers.
var allowed = map[string]attempt{
	"read a copy":                get(secret(ownSpace, "copy")),
	"list copies":                list(&corev1.SecretList{}, client.InNamespace(ownSpace)),
	"write a copy":               create(labelled(configMap(ownSpace, "app"))),
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
	"renew a Lease":              remove(lease("karmada-compute-replica-a")),
	"send a hub namespace":       create(labelled(work(cellSpace, "mine", manifest("v1", "Namespace", "", ownSpace)))),
	"send a Cell":                create(labelled(work(cellSpace, "mine", manifest("compute.datumapis.com/v1alpha", "Cell", "", "hub")))),
	"remove a deployment": create(labelled(work(cellSpace, "mine",
		manifest("compute.datumapis.com/v1alpha", "WorkloadDeployment", ownSpace, "web")))),
	"nudge a Work of Karmada":    patch(workNamed("of-a-copy"), `{"metadata":{"annotations":{"a":"b"}},"spec":{"suspendDispatching":false}}`),
	"delete a Work of Karmada":   remove(workNamed("of-a-copy")),
	"let go of its own Work":     patch(workNamed("own"), `{"metadata":{"finalizers":null}}`),
	"deploy in a hub namespace":  create(deploymentIn(ownSpace)),
	"propagate existing objects": create(propagationIn(ownSpace)),
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

// TestStolenCredentialOfTheHub verifies the permissions of the add-on's credential for the hub, with the roles and the
// policy of the chart, and that the policy limits no other user.
func TestStolenCredentialOfTheHub(t *testing.T) {
	setUpHub(t, hubUser)
	stolen, admin := client.NewDryRunClient(clientOf(t, hubUser)), client.NewDryRunClient(clientOf(t, ""))
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		if err := attacks[name](t.Context(), stolen); !apierrors.IsForbidden(err) {
			t.Errorf("%s: got %v, want forbidden", name, err)
		}
		if err := attacks[name](t.Context(), admin); err != nil {
			t.Errorf("%s, as an administrator: %v", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if err := allowed[name](t.Context(), stolen); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStolenCredentialOfTheWebhooks verifies that Pods that serve webhooks only have none of that: they mark projects,
// keep the webhooks' CA and paths, and register the interpreter.
func TestStolenCredentialOfTheWebhooks(t *testing.T) {
	setUpHub(t, webhookUser, set{"host.separateWebhooks": true})
	stolen := client.NewDryRunClient(clientOf(t, webhookUser))
	attempts := maps.Clone(allowed)
	maps.Copy(attempts, attacks)
	attempts["list the Works"] = list(&workv1alpha1.WorkList{}, client.InNamespace(cellSpace))
	attempts["list the namespaces"] = list(&corev1.NamespaceList{})
	for _, name := range slices.Sorted(maps.Keys(attempts)) {
		err := attempts[name](t.Context(), stolen)
		switch name {
		case "mark a project", "create its CA":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		default:
			if !apierrors.IsForbidden(err) {
				t.Errorf("%s: got %v, want forbidden", name, err)
			}
		}
	}
}

// TestPodsOfWebhooksHaveCredentialsOfTheirOwn verifies, for each form of a credential, that Pods that serve webhooks
// only do not mount a credential of the controllers, and know the users of the controllers.
func TestPodsOfWebhooksHaveCredentialsOfTheirOwn(t *testing.T) {
	token := set{"access.hub.token.server": "https://hub.example", "access.milo.token.server": "https://milo.example"}
	for name, credential := range map[string]set{
		"Secrets": {},
		"kubeconfigs": {
			"access.hub.kubeconfig": "a", "access.milo.kubeconfig": "b", "access.webhooks.hub.kubeconfig": "c",
			"access.webhooks.milo.kubeconfig": "d",
		},
		"tokens": token,
	} {
		objects := render(t, credential, separate)
		controllers, webhooks := query(t, objects, host, volumes), query(t, objects, serve, volumes)
		for _, mounted := range regexp.MustCompile(`"secret":{[^}]*"name":"[^"]*"}`).FindAllString(controllers, -1) {
			// A token's kubeconfig has no credential in it.
			if name != "tokens" && strings.Contains(webhooks, mounted) {
				t.Errorf("%s: both mount %s", name, mounted)
			}
		}
		if one, other := query(t, objects, host, "{.spec.template.spec.serviceAccountName}"),
			query(t, objects, serve, "{.spec.template.spec.serviceAccountName}"); one == other {
			t.Errorf("%s: both are ServiceAccount %s", name, one)
		}
		if got := query(t, objects, serve, args); !strings.Contains(got, `"--add-on-users=karmada-compute"`) {
			t.Errorf("%s: the webhooks do not know the controllers: %s", name, got)
		}
	}
}
