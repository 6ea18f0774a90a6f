// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestASourceChanges: the copy of Secret database follows its original in the project.
func TestASourceChanges(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change     func(*testing.T, *fixture, *corev1.Secret)
		wantReason string
		// wantData is the expected data of the copy; "": no copy exists.
		wantData string
		wantType corev1.SecretType
		// wantNew: the copy is another object than before.
		wantNew bool
	}{
		"new data": {
			change: func(t *testing.T, f *fixture, s *corev1.Secret) {
				t.Helper()
				planes.Change(t, f.Planes, s, func(s *corev1.Secret) { s.Data["password"] = []byte("new") })
			},
			wantReason: v1alpha.ReasonAwaitingPropagation, wantData: "new", wantType: corev1.SecretTypeOpaque,
		},
		"recreated with other data": {
			change: func(t *testing.T, f *fixture, s *corev1.Secret) {
				t.Helper()
				planes.Delete(t, f.Planes, s)
				second := f.database()
				second.Data["password"] = []byte("new")
				planes.Create(t, f.Planes, second)
			},
			wantReason: v1alpha.ReasonAwaitingPropagation, wantData: "new", wantType: corev1.SecretTypeOpaque,
		},
		"recreated with another type": {
			change: func(t *testing.T, f *fixture, s *corev1.Secret) {
				t.Helper()
				planes.Delete(t, f.Planes, s)
				second := f.database()
				second.Type = "example.com/other"
				planes.Create(t, f.Planes, second)
			},
			wantReason: v1alpha.ReasonAwaitingPropagation, wantData: "hidden", wantType: "example.com/other", wantNew: true,
		},
		"deleted": {
			change:     func(t *testing.T, f *fixture, s *corev1.Secret) { t.Helper(); planes.Delete(t, f.Planes, s) },
			wantReason: v1alpha.ReasonSourceNotFound,
		},
		"grown too large": {
			change: func(t *testing.T, f *fixture, s *corev1.Secret) {
				t.Helper()
				planes.Change(t, f.Planes, s, func(s *corev1.Secret) { s.Data["more"] = make([]byte, maxObject) })
			},
			wantReason: v1alpha.ReasonSourceTooLarge, wantData: "hidden", wantType: corev1.SecretTypeOpaque,
		},
		"its labels alone": {
			change: func(t *testing.T, f *fixture, s *corev1.Secret) {
				t.Helper()
				planes.Change(t, f.Planes, s, func(s *corev1.Secret) { s.Labels = map[string]string{"theirs": "1"} })
			},
			wantReason: v1alpha.ReasonAwaitingPropagation, wantData: "hidden", wantType: corev1.SecretTypeOpaque,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t).engage(t)
			source := planes.Create(t, f.Planes, f.database())
			f.deploy(t, "web", templateNaming(nil, []string{"database"}))
			f.settled(t)
			before := f.databaseOnHub(t)
			test.change(t, f, source)
			f.await(t, f.database())
			f.mustReconcile(t)
			f.mustReconcile(t)
			f.wantReason(t, "web", test.wantReason)
			if f.isOnHub(t, f.database()) != (test.wantData != "") {
				t.Fatalf("there is a copy: %t", test.wantData == "")
			}
			if test.wantData != "" {
				got := f.databaseOnHub(t)
				if string(got.Data["password"]) != test.wantData || got.Type != test.wantType ||
					(got.UID != before.UID) != test.wantNew || got.Labels["theirs"] != "" {
					t.Errorf("the copy is %+v", got.ObjectMeta)
				}
			}
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
		})
	}
}

func TestSourcesThatAreNotCopied(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare    func(*testing.T, *fixture)
		wantReason string
	}{
		"too large together": {func(t *testing.T, f *fixture) {
			t.Helper()
			var names []string
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				one := f.app()
				one.Name, one.Data = name, map[string]string{"x": strings.Repeat("x", maxObject-1)}
				planes.Create(t, f.Planes, one)
				names = append(names, name)
			}
			f.deploy(t, "web", templateNaming(names, nil))
		}, v1alpha.ReasonSourceTooLarge},
		"a cluster's own": {func(t *testing.T, f *fixture) {
			t.Helper()
			one := f.app()
			one.Name = rootCA
			planes.Create(t, f.Planes, one)
			f.deploy(t, "web", templateNaming([]string{rootCA}, nil))
		}, v1alpha.ReasonSourceRefused},
		"a cluster's token": {func(t *testing.T, f *fixture) {
			t.Helper()
			one := f.database()
			one.Type, one.Annotations = corev1.SecretTypeServiceAccountToken, map[string]string{corev1.ServiceAccountNameKey: "default"}
			planes.Create(t, f.Planes, one)
			f.deploy(t, "web", templateNaming(nil, []string{"database"}))
		}, v1alpha.ReasonSourceRefused},
		"a missing one": {
			func(t *testing.T, f *fixture) { t.Helper(); f.deploy(t, "web", templateNaming([]string{"app"}, nil)) }, v1alpha.ReasonSourceNotFound,
		},
		"before the deployment has a place on the hub": {func(t *testing.T, f *fixture) {
			t.Helper()
			planes.Create(t, f.Planes, f.app())
			original := f.Deployment("web", "DFW")
			original.Spec.Template = templateNaming([]string{"app"}, nil)
			planes.Create(t, f.Planes, original)
		}, v1alpha.ReasonResolving},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t).engage(t)
			test.prepare(t, f)
			f.mustReconcile(t)
			f.wantReason(t, "web", test.wantReason)
			if writes := f.Hub.Writes(); len(writes) > 0 {
				t.Errorf("on the hub it writes %v", writes)
			}
			var copies corev1.ConfigMapList
			if err := f.Client.List(t.Context(), &copies); err != nil {
				t.Fatal(err)
			}
			for i := range copies.Items {
				if copies.Items[i].Namespace == f.HubNamespace {
					t.Errorf("%s is copied", copies.Items[i].Name)
				}
			}
		})
	}
}

// mayDo returns the rights of the add-on in a project, except for Secrets.
func mayDo(secrets ...string) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		{
			APIGroups: []string{"compute.datumapis.com"}, Resources: []string{"workloaddeployments", "workloads"},
			Verbs: []string{"get", "list", "watch"},
		},
		{APIGroups: []string{"compute.datumapis.com"}, Resources: []string{"workloaddeployments/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}},
	}
	if len(secrets) > 0 {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: secrets})
	}
	return rules
}

// TestASourceMayNotBeRead: the condition reports it, no event reports its end, and an existing copy remains.
func TestASourceMayNotBeRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Create(t, f.Planes, f.app())
	planes.Create(t, f.Planes, f.database())
	copied := f.database()
	copied.Namespace, copied.Labels = f.HubNamespace, map[string]string{v1alpha.LabelProject: "cluster-north"}
	planes.Create(t, f.Planes, copied)
	f.Restrict(t, mayDo("list", "watch")...)
	f.engage(t)
	f.deploy(t, "web", templateNaming([]string{"app"}, []string{"database"}))
	f.mustReconcile(t)
	f.sync(t)
	result, err := f.reconcile(t)
	if err != nil || result.RequeueAfter != refusedRetry {
		t.Errorf("got %+v, %v", result, err)
	}
	f.wantReason(t, "web", v1alpha.ReasonSourceUnauthorized)
	if got := f.condition(t, "web"); !strings.Contains(got.Message, "may not read Secret database") ||
		strings.Contains(got.Message, "hidden") {
		t.Errorf("the message is %q", got.Message)
	}
	if !f.isOnHub(t, f.app()) || f.databaseOnHub(t).UID != copied.UID {
		t.Error("the other object is not copied, or the earlier copy does not stay")
	}
}

// TestAKindMayNotBeWatched: its objects are read one by one, repeatedly, and other kinds are not delayed.
func TestAKindMayNotBeWatched(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Create(t, f.Planes, f.app())
	source := planes.Create(t, f.Planes, f.database())
	f.Restrict(t, mayDo("get")...)
	f.engage(t)
	f.deploy(t, "web", templateNaming([]string{"app"}, []string{"database"}))
	f.mustReconcile(t)
	planes.Change(t, f.Planes, source, func(s *corev1.Secret) { s.Data["password"] = []byte("new") })
	result, err := f.reconcile(t)
	if err != nil || result.RequeueAfter != unwatchedRetry {
		t.Errorf("got %+v, %v", result, err)
	}
	if got := string(f.databaseOnHub(t).Data["password"]); got != "new" {
		t.Error("the copy is the former one")
	}
}

// TestAReadFails: the condition keeps its last, more useful state, and the next reconcile updates the copy.
func TestAReadFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	source := planes.Create(t, f.Planes, f.database())
	f.deploy(t, "web", templateNaming(nil, []string{"database"}))
	f.settled(t)
	before := f.condition(t, "web")
	planes.Change(t, f.Planes, source, func(s *corev1.Secret) { s.Data["password"] = []byte("new") })
	f.await(t, source)
	f.Project.Once("get", "Secret", func() error { return errors.New("connection refused") })
	if _, err := f.reconcile(t); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
	if got := f.condition(t, "web"); *got != *before || string(f.databaseOnHub(t).Data["password"]) != "hidden" {
		t.Errorf("the condition was %+v and is %+v", before, got)
	}
	f.mustReconcile(t)
	if string(f.databaseOnHub(t).Data["password"]) != "new" {
		t.Error("after the error it is not copied")
	}
}

// TestASourceChangesBetweenCheckAndCopy: the copy and the condition show the later state.
func TestASourceChangesBetweenCheckAndCopy(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	source := planes.Create(t, f.Planes, f.database())
	f.deploy(t, "web", templateNaming(nil, []string{"database"}))
	f.Project.Once("get", "Secret", func() error {
		f.Project.Once("get", "Secret", func() error { planes.Delete(t, f.Planes, source); return nil })
		return nil
	})
	f.mustReconcile(t)
	f.wantReason(t, "web", v1alpha.ReasonSourceNotFound)
	if f.isOnHub(t, f.database()) {
		t.Error("what is gone was copied")
	}
}
