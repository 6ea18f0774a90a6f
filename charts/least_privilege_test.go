// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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
func clientOf(t testing.TB, user string) client.Client {
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
		dnsName("theirs.example", "theirs.example"), labelled(dnsName("ours.example", "ours.example"), ofWorkload),
		work(cellSpace, "unlabelled", manifest("v1", "Namespace", "", ownSpace)),
	} {
		ensure(t, admin, obj)
	}
	for name, of := range map[string]string{"preserved": "karmada-compute", "preserved-of-another": "another"} {
		ensurePreserved(t, admin, name, of)
	}
	awaitInForce(t, admin)
}

// ensurePreserved creates the Work of an object that stays in the cell, and deletes it. Karmada ends such a Work after it
// has written to the object, so never when the object is gone; the controller of hub/cells ends it then.
func ensurePreserved(t *testing.T, c client.Client, name, partOf string) {
	t.Helper()
	agent := manifest("v1", "ServiceAccount", "karmada-compute-system", "karmada-compute-cell")
	if err := unstructured.SetNestedField(agent, partOf, "metadata", "labels", "app.kubernetes.io/part-of"); err != nil {
		t.Fatal(err)
	}
	w := work(cellSpace, name, agent)
	w.Finalizers, w.Spec.PreserveResourcesOnDeletion = []string{"karmada.io/execution-controller"}, new(true)
	ensure(t, c, w)
	if err := c.Delete(t.Context(), workNamed(name)); err != nil {
		t.Fatal(err)
	}
}

func ensure(t testing.TB, c client.Client, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
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
		// Changes of the manifests in Works of the add-on are refused to every user.
		if err := attacks[name](t.Context(), admin); err != nil && !strings.Contains(err.Error(), "karmada-compute-claims") {
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
		case "mark a project", "create its CA",
			// A warning about an exposure needs the settings of cells.
			"list the namespaces":
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
