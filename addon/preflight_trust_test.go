// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"errors"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func clusterWith(name string, spec map[string]any) *unstructured.Unstructured {
	cluster := reference{"cluster.karmada.io/v1alpha1", "Cluster", "", name}.object()
	cluster.Object["spec"] = spec
	return cluster
}

// TestPreflightNamesWhatOthersHaveDone: on a hub that another user has used against it, preflight names each object, deletes
// none, and refuses a namespace of the add-on in which others have rights.
func TestPreflightNamesWhatOthersHaveDone(t *testing.T) {
	s := newSite(t)
	run, err := s.options().connect()
	if err != nil {
		t.Fatal(err)
	}
	evil := clusterWith("evil", map[string]any{
		"syncMode": "Push", "secretRef": map[string]any{"namespace": "karmada-system", "name": "any-token"},
	})
	evil.SetAnnotations(map[string]string{"compute.datumapis.com/forget": "true"})
	user := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "tenant"}}
	bind := func(namespace string) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine"}, Subjects: user,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		}
	}
	policy := reference{"policy.karmada.io/v1alpha1", "PropagationPolicy", "trust-shop", "theirs"}.object()
	policy.Object["spec"] = map[string]any{"resourceSelectors": []any{map[string]any{"apiVersion": "v1", "kind": "Pod"}}}
	objects := []client.Object{
		evil,
		clusterWith("good", map[string]any{"syncMode": "Push", "secretRef": map[string]any{"namespace": "karmada-cluster", "name": "good"}}),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "karmada-es-evil"}}, bind("karmada-es-evil"),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "trust-grants"}}, bind("trust-grants"),
		&corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: "trust-shop", Labels: map[string]string{"compute.datumapis.com/project": "true"}},
		}, policy,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "system:karmada:evil:agent"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"cluster.karmada.io"}, Resources: []string{"clusters"}, Verbs: []string{"create"}},
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "system:karmada:evil:agent"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "system:karmada:agent:evil"}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:karmada:evil:agent"},
		},
	}
	objects = append(objects, rightsOfExternalDNS(t)...)
	for _, object := range objects {
		if err := s.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	run.values = map[string]any{"sessions": map[string]any{"namespace": "trust-grants"}}
	f := &findings{}
	run.checkClusters(t.Context(), f)
	warnings, failures := strings.Join(f.warnings, "\n"), errors.Join(f.failures...)
	for _, says := range []string{
		"Cluster evil has spec.secretRef karmada-system/any-token", "annotate namespace karmada-es-evil",
		"karmada-es-evil/mine (User tenant)", "ClusterRoles system:karmada:evil:agent", "PropagationPolicy trust-shop/theirs",
		"kubectl -n trust-shop delete propagationpolicy theirs",
	} {
		if !strings.Contains(warnings, says) {
			t.Errorf("no warning has %q:\n%s", says, warnings)
		}
	}
	if failures != nil && strings.Contains(failures.Error(), "external-dns") {
		t.Errorf("the rights that docs/how-to/names.md gives to external-dns are refused: %v", failures)
	}
	if strings.Contains(warnings, "Cluster good") {
		t.Errorf("a Cluster of karmadactl join is named:\n%s", warnings)
	}
	if failures == nil || !strings.Contains(failures.Error(), "kubectl delete rolebinding -n trust-grants") {
		t.Errorf("a namespace of others is not refused: %v", failures)
	}
	for _, object := range objects {
		if err := s.Delete(t.Context(), object); err != nil {
			t.Errorf("%T %s is gone: %v", object, object.GetName(), err)
		}
	}
}

// rightsOfExternalDNS returns the Role and the RoleBinding of the page about names.
func rightsOfExternalDNS(t *testing.T) []client.Object {
	t.Helper()
	page, err := os.ReadFile("../docs/how-to/names.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```yaml\n")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed || !strings.Contains(block, "kind: RoleBinding") {
		t.Fatalf("the first block of the page has no RoleBinding:\n%s", block)
	}
	var objects []client.Object
	for manifest := range strings.SplitSeq(block, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
			t.Fatalf("%v:\n%s", err, manifest)
		}
		objects = append(objects, object)
	}
	return objects
}

// TestAgentsThatNeverRenew: preflight names cells in pull mode of Karmada versions whose agents never renew a certificate.
func TestAgentsThatNeverRenew(t *testing.T) {
	clusters := []unstructured.Unstructured{
		*clusterWith("pull-1", map[string]any{"syncMode": "Pull"}), *clusterWith("push-1", map[string]any{"syncMode": "Push"}),
	}
	for karmada, fixed := range map[string]string{
		"1.16.3": "1.16.4", "1.17.0": "1.17.1", "1.16.4": "", "1.17.1": "", "1.18.0": "", "1.19.0": "", "2.16.0": "",
	} {
		f := &findings{}
		checkAgents(f, version.MustParseGeneric(karmada), clusters)
		got := strings.Join(f.warnings, "")
		named := strings.Contains(got, "pull-1") && strings.Contains(got, fixed) && !strings.Contains(got, "push-1")
		if fixed == "" && got != "" || fixed != "" && !named {
			t.Errorf("Karmada %s: %q", karmada, got)
		}
	}
	f := &findings{}
	checkAgents(f, version.MustParseGeneric("1.16.0"), clusters[1:])
	checkAgents(f, nil, clusters)
	if len(f.warnings) > 0 {
		t.Errorf("%v", f.warnings)
	}
}
