// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells_test

import (
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestForeignSecrets: a Cluster that names a Secret of others is at once in no city, confirmed or not, and says why; with
// its own Secrets, as karmadactl join and register write them, it is a cell.
func TestForeignSecrets(t *testing.T) {
	c := newCities(t)
	cell := c.Cell(t, c.city)
	c.want("a new cell", c.city, c.of(c.city, cell.Name), cell.Name)
	secret := func(namespace, name string) *clusterv1alpha1.LocalSecretReference {
		return &clusterv1alpha1.LocalSecretReference{Namespace: namespace, Name: name}
	}
	for _, test := range []struct {
		why                  string
		secret, impersonator *clusterv1alpha1.LocalSecretReference
		foreign              string
	}{
		{"join", secret("karmada-cluster", cell.Name), secret("karmada-cluster", cell.Name+"-impersonator"), ""},
		{"register", nil, secret("karmada-cluster", cell.Name+"-impersonator"), ""},
		{"the Secret of another cell", secret("karmada-cluster", "member1"), nil, "spec.secretRef: karmada-cluster/member1"},
		{"the impersonator's", secret("karmada-cluster", cell.Name+"-impersonator"), nil, "spec.secretRef"},
		{"its name elsewhere", secret("karmada-system", cell.Name), nil, "spec.secretRef: karmada-system/"},
		{
			"as impersonator", nil, secret("karmada-system", "karmada-compute-token"),
			"spec.impersonatorSecretRef: karmada-system/karmada-compute-token",
		},
	} {
		planes.Change(t, c.Planes, cell, func(o *clusterv1alpha1.Cluster) {
			o.Spec.SecretRef, o.Spec.ImpersonatorSecretRef, o.Spec.APIEndpoint = test.secret, test.impersonator, "https://192.0.2.1"
		})
		var want []string
		if test.foreign == "" {
			want = []string{cell.Name}
		}
		c.want(test.why, c.city, c.of(c.city, cell.Name), want...)
		condition := c.condition(cell.Name)
		if test.foreign == "" && condition != nil || test.foreign != "" && (condition == nil ||
			condition.Reason != v1alpha.ReasonForeignSecret || !strings.Contains(condition.Message, test.foreign)) {
			t.Errorf("%s: the condition is %+v", test.why, condition)
		}
	}
	// The Secret by which Karmada impersonates in x has the name of Cluster x-impersonator.
	trick := c.Cell(t, c.city)
	if got := trick.Name + "-impersonator"; got != "" {
		thief := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: got, Labels: map[string]string{v1alpha.LabelTopologyCity: c.city}}}
		thief.Spec.SyncMode, thief.Spec.SecretRef = clusterv1alpha1.Push, secret("karmada-cluster", got)
		planes.Create(t, c.Planes, thief)
		c.of(c.city, got)
		if condition := c.condition(got); condition == nil || condition.Reason != v1alpha.ReasonForeignSecret {
			t.Errorf("the condition is %+v", condition)
		}
	}
}

// TestStrangersInTheNamespaceOfACell: the add-on confirms no city while others have rights in the namespace of the cell's
// Works, and names the RoleBindings; the agent of the cell belongs there.
func TestStrangersInTheNamespaceOfACell(t *testing.T) {
	c := newCities(t)
	cell := c.Cell(t, c.city)
	bind := func(name string, subject rbacv1.Subject) *rbacv1.RoleBinding {
		binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: planes.ExecutionSpace(cell.Name), Name: name}}
		subject.APIGroup = rbacv1.GroupName
		binding.Subjects = []rbacv1.Subject{subject}
		binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "any"}
		return planes.Create(t, c.Planes, binding)
	}
	bind("system:karmada:agent-work", rbacv1.Subject{Kind: rbacv1.UserKind, Name: "system:karmada:agent:" + cell.Name})
	stranger := bind("mine", rbacv1.Subject{Kind: rbacv1.UserKind, Name: "tenant"})
	c.want("with a stranger", c.city, c.of(c.city, cell.Name))
	condition := c.condition(cell.Name)
	if condition == nil || condition.Reason != v1alpha.ReasonCityUnconfirmed || !strings.Contains(condition.Message, "/mine (User tenant)") {
		t.Fatalf("the condition is %+v", condition)
	}
	if got := c.access(cell.Name); got == nil || got.Reason != v1alpha.ReasonStrangersInNamespace {
		t.Errorf("the rights are %+v", got)
	}
	label(c, c.space(cell.Name), c.city)
	c.want("an operator has confirmed it nevertheless", c.city, c.of(c.city, cell.Name), cell.Name)
	if err := c.Client.Delete(t.Context(), stranger); err != nil {
		t.Fatal(err)
	}
	label(c, c.space(cell.Name), "")
	c.later()
	c.want("without the stranger", c.city, c.of(c.city, cell.Name), cell.Name)
	if got := c.access(cell.Name); got != nil {
		t.Errorf("the rights are %+v", got)
	}
}

// TestAgentsThatMayCreateClusters: the Cluster of an agent names the role that lets it create others, and the command that removes the
// right; the condition goes with the right.
func TestAgentsThatMayCreateClusters(t *testing.T) {
	c := newCities(t)
	cell := c.Cell(t, c.city)
	planes.Change(t, c.Planes, cell, func(o *clusterv1alpha1.Cluster) { o.Spec.SyncMode = clusterv1alpha1.Pull })
	// As karmadactl register writes it.
	role := planes.Create(t, c.Planes, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "system:karmada:" + cell.Name + ":agent"},
		Rules: []rbacv1.PolicyRule{
			{
				APIGroups: []string{"cluster.karmada.io"}, Resources: []string{"clusters"}, ResourceNames: []string{cell.Name},
				Verbs: []string{"get", "delete"},
			},
			{APIGroups: []string{"cluster.karmada.io"}, Resources: []string{"clusters"}, Verbs: []string{"create", "list", "watch"}},
		},
	})
	c.register(rbacv1.Subject{Kind: rbacv1.UserKind, Name: "system:karmada:agent:" + cell.Name}, role.Name)
	c.of(c.city, cell.Name)
	got := c.access(cell.Name)
	command := `kubectl patch clusterrole ` + role.Name + ` --type=json -p '[{"op":"test","path":"/rules/1/verbs/0","value":"create"},` +
		`{"op":"remove","path":"/rules/1/verbs/0"}]'`
	if got == nil || got.Status != metav1.ConditionFalse || got.Reason != v1alpha.ReasonAgentMayCreateClusters ||
		!strings.HasSuffix(got.Message, command) {
		t.Fatalf("the rights are %+v", got)
	}
	planes.Change(t, c.Planes, role, func(o *rbacv1.ClusterRole) { o.Rules[1].Verbs = o.Rules[1].Verbs[1:] })
	c.later()
	c.of(c.city, cell.Name)
	if got := c.access(cell.Name); got != nil {
		t.Errorf("the rights are %+v", got)
	}
}

// later lets what was found about rights end.
func (c *cities) later() {
	c.r.Clock = testingclock.NewFakePassiveClock(c.r.Clock.Now().Add(time.Minute))
}

// access returns the condition of a Cluster about the rights of others; nil: it has none.
func (c *cities) access(name string) *metav1.Condition {
	c.t.Helper()
	found := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	planes.Get(c.t, c.Planes, "", name, found)
	return meta.FindStatusCondition(found.Status.Conditions, v1alpha.ConditionComputeAccessRestricted)
}
