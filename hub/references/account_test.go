// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// bounded lets the copies of the project have so many bytes, with all namespaces of other tests counted.
func (f *fixture) bounded(most int) *account {
	f.reconciler.MaxBytes = most
	account := &f.reconciler.sources.Of(planes.ProjectName).account
	account.complete = true
	return account
}

// TestBytesOfAProject: the ConfigMaps and Secrets of a project have a bound together, however many deployments name
// them. A copy stays and may shrink; an object that would exceed the bound is not copied, and a condition names it.
func TestBytesOfAProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	first, second := f.app(), f.app()
	first.Data, second.Name, second.Data = map[string]string{"a": strings.Repeat("x", 599)}, "more",
		map[string]string{"a": strings.Repeat("x", 599)}
	planes.Create(t, f.Planes, first)
	f.bounded(1000)
	f.deploy(t, "api", templateNaming([]string{"app"}, nil))
	f.deploy(t, "batch", templateNaming([]string{"app"}, nil))
	f.settled(t)
	planes.Create(t, f.Planes, second)
	f.deploy(t, "web", templateNaming([]string{"app", "more"}, nil))
	f.mustReconcile(t)

	if !f.isOnHub(t, first) || f.isOnHub(t, second) {
		t.Fatalf("on the hub is the first: %t, the second: %t", f.isOnHub(t, first), f.isOnHub(t, second))
	}
	f.wantReason(t, "api", v1alpha.ReasonAwaitingPropagation)
	f.wantReason(t, "web", v1alpha.ReasonSourceTooLarge)
	want := "with ConfigMap more of 600 bytes, the objects that the project's Workloads name hold 1200 bytes together and " +
		"at most 1000 are copied to cells; " +
		"make them smaller or name fewer"
	if got := f.condition(t, "web").Message; got != want {
		t.Errorf("the message is %q", got)
	}
	f.await(t, second)
	f.mustReconcile(t)
	isRead := func(call planes.Call) bool { return call.Verb == "get" }
	if calls := f.HubAPI.Calls(); slices.ContainsFunc(calls, isRead) {
		t.Errorf("what does not fit is read again: %v", calls)
	}

	planes.Change(t, f.Planes, first, func(c *corev1.ConfigMap) { c.Data["a"] = strings.Repeat("x", 299) })
	f.await(t, first)
	f.mustReconcile(t)
	f.settled(t)
	if len(f.appOnHub(t).Data["a"]) != 299 || !f.isOnHub(t, second) {
		t.Error("the second does not fit after the first has shrunk")
	}
	planes.Change(t, f.Planes, first, func(c *corev1.ConfigMap) { c.Data["a"] = strings.Repeat("x", 500) })
	f.await(t, first)
	f.mustReconcile(t)
	if len(f.appOnHub(t).Data["a"]) != 299 {
		t.Error("a copy grows beyond the bound")
	}
	f.wantReason(t, "api", v1alpha.ReasonSourceTooLarge)
}

// TestBytesAfterATakeover: the copies of all namespaces are counted before the replica that takes a project over copies
// more.
func TestBytesAfterATakeover(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	account := f.bounded(1000)
	account.complete = false
	planes.Create(t, f.Planes, f.app())
	original := f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	other := original.DeepCopy()
	other.Namespace = "another"
	account.end(f.Namespace.Name)
	if !account.awaits([]v1alpha.WorkloadDeployment{*original, *other}) || account.isComplete() {
		t.Error("a namespace that is not counted is not awaited")
	}
	account.begin("another", map[item]int{{hubNamespace: "ns-other"}: 995})
	account.end("another")
	if account.awaits([]v1alpha.WorkloadDeployment{*original, *other}) || !account.isComplete() {
		t.Error("it awaits more")
	}
	f.mustReconcile(t)
	if f.isOnHub(t, f.app()) {
		t.Error("the copies of the other namespace do not count")
	}
	account.begin("another", map[item]int{})
	f.mustReconcile(t)
	if !f.isOnHub(t, f.app()) {
		t.Error("it is not copied after the other namespace has no copies")
	}
}

// TestUncountedNamespaces: until the copies of a namespace are counted, no other namespace gets more.
func TestUncountedNamespaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	f.bounded(1000).complete = false
	planes.Create(t, f.Planes, f.app())
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	newFixture(t).deploy(t, "web", templateNaming([]string{"app"}, nil))
	result, err := f.reconcile(t)
	if err != nil || result.RequeueAfter > accountRetry || f.isOnHub(t, f.app()) {
		t.Errorf("with an uncounted namespace: %+v, %v, copied: %t", result, err, f.isOnHub(t, f.app()))
	}
}
