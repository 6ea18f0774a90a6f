// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// oneNamespace is a project with one namespace, which a test recreates.
type oneNamespace struct {
	client.Reader
	uid   types.UID
	reads int
}

func (o *oneNamespace) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	o.reads++
	namespace, ok := obj.(*corev1.Namespace)
	if !ok || o.uid == "" {
		return errors.New("no answer")
	}
	namespace.UID = o.uid
	return nil
}

// TestNamespaces: a guess may be of an earlier namespace until the next read; a read never is.
func TestNamespaces(t *testing.T) {
	n, from := projects.NewNamespaces(), projects.Origin{Project: "north", ProjectUID: "north-uid", Namespace: "default"}
	project := &oneNamespace{uid: "first"}
	check := func(f func(context.Context, projects.Origin, client.Reader) (types.UID, error), want types.UID, reads int) {
		t.Helper()
		project.reads = 0
		if got, err := f(t.Context(), from, project); got != want || project.reads != reads || (err != nil) != (want == "") {
			t.Errorf("UID %q after %d reads, %v; want %q after %d", got, project.reads, err, want, reads)
		}
	}
	check(n.Guess, "first", 1)
	check(n.Guess, "first", 0)
	project.uid = "second"
	check(n.Guess, "first", 0)
	check(n.Read, "second", 1)
	check(n.Guess, "second", 0)
	from.ProjectUID = "recreated-uid"
	check(n.Guess, "second", 1)
	n.Forget(from)
	project.uid = "third"
	check(n.Guess, "third", 1)
	n.Forget(from)
	project.uid = ""
	check(n.Guess, "", 1)
	var none *projects.Namespaces
	none.Forget(from)
	project.uid = "fourth"
	check(none.Guess, "fourth", 1)
	check(none.Read, "fourth", 1)
}

// TestNamespacesOfADisengagedProject: another replica sees the namespace being recreated.
func TestNamespacesOfADisengagedProject(t *testing.T) {
	n, from := projects.NewNamespaces(), projects.Origin{Project: "north", ProjectUID: "north-uid", Namespace: "default"}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	engageIn := func() {
		t.Helper()
		source, engaged, err := n.ForCluster("north", nil)
		if err != nil || !engaged {
			t.Fatalf("engaged is %t: %v", engaged, err)
		}
		if err := source.Start(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	engageIn()
	project := &oneNamespace{uid: "first"}
	if _, err := n.Read(t.Context(), from, project); err != nil {
		t.Fatal(err)
	}
	project.uid = "second"
	engageIn()
	if got, err := n.Guess(t.Context(), from, project); got != "second" || err != nil {
		t.Errorf("the guess in a new engagement is %q, %v", got, err)
	}
}
