// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestACopyIsRestored after any change on the hub.
func TestACopyIsRestored(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*corev1.ConfigMap)
		// deleted: the copy is deleted, after the change.
		deleted bool
		// wantNew: the copy is another object afterwards.
		wantNew bool
	}{
		"changed data":          {change: func(c *corev1.ConfigMap) { c.Data["colour"] = "red" }},
		"added data":            {change: func(c *corev1.ConfigMap) { c.Data["more"] = "1" }},
		"removed data":          {change: func(c *corev1.ConfigMap) { c.Data = nil }},
		"added binary data":     {change: func(c *corev1.ConfigMap) { c.BinaryData = map[string][]byte{"more": {1}} }},
		"a label":               {change: func(c *corev1.ConfigMap) { delete(c.Labels, v1alpha.LabelProjectUID) }},
		"the annotation":        {change: func(c *corev1.ConfigMap) { c.Annotations = nil }},
		"no owner":              {change: func(c *corev1.ConfigMap) { c.OwnerReferences = nil }},
		"an owner that is gone": {change: func(c *corev1.ConfigMap) { c.OwnerReferences = append(c.OwnerReferences, formerOwner()) }},
		"immutable, changed":    {change: func(c *corev1.ConfigMap) { c.Immutable, c.Data["colour"] = new(true), "red" }, wantNew: true},
		"deleted":               {deleted: true, wantNew: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t).engage(t)
			planes.Create(t, f.Planes, f.app())
			f.deploy(t, "web", templateNaming([]string{"app"}, nil))
			f.settled(t)
			before := f.appOnHub(t)
			if test.change != nil {
				planes.Change(t, f.Planes, before.DeepCopy(), test.change)
			}
			if test.deleted {
				planes.Delete(t, f.Planes, before)
			}
			f.mustReconcile(t)
			f.mustReconcile(t)
			got := f.appOnHub(t)
			if len(got.Data) != 1 || got.Data["colour"] != "blue" || len(got.BinaryData) > 0 || len(got.OwnerReferences) != 1 ||
				got.Labels[v1alpha.LabelProjectUID] != string(planes.ProjectUID) || got.Annotations[v1alpha.AnnotationProjectName] != "north" {
				t.Errorf("it is %+v", got)
			}
			if (got.UID != before.UID) != test.wantNew {
				t.Errorf("it is another object: %t", got.UID != before.UID)
			}
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
		})
	}
}

func formerOwner() metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment, Name: "former", UID: "former-uid",
	}
}

// TestACopyThatIsBeingDeleted is not changed until it is gone.
func TestACopyThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	source := planes.Create(t, f.Planes, f.app())
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	f.settled(t)
	copied := planes.Change(t, f.Planes, f.appOnHub(t), func(c *corev1.ConfigMap) { c.Finalizers = []string{"example.com/held"} })
	planes.Delete(t, f.Planes, copied)
	planes.Change(t, f.Planes, source, func(c *corev1.ConfigMap) { c.Data["colour"] = "red" })
	f.await(t, source)
	f.mustReconcile(t)
	if got := f.appOnHub(t); got.Data["colour"] != "blue" {
		t.Errorf("it holds %v", got.Data)
	}
	planes.Delete(t, f.Planes, source)
	f.await(t, source)
	if writes := f.mustReconcile(t); slices.ContainsFunc(writes, func(call planes.Call) bool { return call.Verb == "delete" }) {
		t.Error("it is deleted again")
	}
}

// TestAnObjectOfOthers with the name of a copy is not overwritten; when it is gone, the copy takes its place.
func TestAnObjectOfOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	theirs := f.app()
	theirs.Namespace, theirs.Data = f.HubNamespace, map[string]string{"theirs": "1"}
	planes.Create(t, f.Planes, theirs)
	planes.Create(t, f.Planes, f.app())
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	f.mustReconcile(t)
	f.sync(t)
	result, err := f.reconcile(t)
	if err != nil || result.RequeueAfter != refusedRetry {
		t.Errorf("got %+v, %v", result, err)
	}
	f.wantReason(t, "web", v1alpha.ReasonSourceRefused)
	if got := f.appOnHub(t); got.ResourceVersion != theirs.ResourceVersion {
		t.Errorf("it is %+v", got)
	}
	planes.Delete(t, f.Planes, theirs)
	f.mustReconcile(t)
	f.wantReason(t, "web", v1alpha.ReasonAwaitingPropagation)
	if got := f.appOnHub(t); got.Data["colour"] != "blue" {
		t.Errorf("the copy is %+v", got)
	}
}

func TestWhoNeedsACopy(t *testing.T) {
	t.Parallel()
	renamed := templateNaming([]string{"other"}, nil)
	tests := map[string]struct {
		// change happens after web and api, which both name ConfigMap app, are settled.
		change     func(*testing.T, *fixture)
		wantOwners []string
		wantGone   bool
	}{
		"one names it no more": {
			change: func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.Deployment("web", ""), func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = renamed })
			},
			wantOwners: []string{"api"},
		},
		"none names it": {
			change: func(t *testing.T, f *fixture) {
				t.Helper()
				for _, name := range []string{"web", "api"} {
					planes.Change(t, f.Planes, f.Deployment(name, ""), func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = renamed })
				}
			},
			wantGone: true,
		},
		"one is being deleted": {
			change: func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.Deployment("web", ""),
					func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{v1alpha.FinalizerPropagation} })
				planes.Delete(t, f.Planes, f.Deployment("web", ""))
			},
			wantOwners: []string{"api"},
		},
		"both are being deleted": {
			change: func(t *testing.T, f *fixture) {
				t.Helper()
				for _, name := range []string{"web", "api"} {
					planes.Change(t, f.Planes, f.Deployment(name, ""),
						func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{v1alpha.FinalizerPropagation} })
					planes.Delete(t, f.Planes, f.Deployment(name, ""))
				}
			},
			// Its Instances may need it; the garbage collector deletes it with the copies of the deployments.
			wantOwners: []string{"api", "web"},
		},
		"one is not on the hub any more": {
			change: func(t *testing.T, f *fixture) {
				t.Helper()
				copied := f.Deployment("web", "")
				copied.Namespace = f.HubNamespace
				planes.Delete(t, f.Planes, copied)
			},
			wantOwners: []string{"api"},
		},
		"the copy of one is of an earlier deployment": {
			change: func(t *testing.T, f *fixture) {
				t.Helper()
				copied := f.Deployment("web", "")
				copied.Namespace = f.HubNamespace
				planes.Change(t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) { d.Labels[v1alpha.LabelDeploymentUID] = "earlier" })
			},
			wantOwners: []string{"api"},
		},
		"the copy of one is being deleted": {
			change: func(t *testing.T, f *fixture) {
				t.Helper()
				copied := f.Deployment("web", "")
				copied.Namespace = f.HubNamespace
				planes.Change(t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{"example.com/held"} })
				planes.Delete(t, f.Planes, copied)
			},
			wantOwners: []string{"api"},
		},
		"a third one names it": {
			change:     func(t *testing.T, f *fixture) { t.Helper(); f.deploy(t, "third", templateNaming([]string{"app"}, nil)) },
			wantOwners: []string{"api", "third", "web"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t).engage(t)
			planes.Create(t, f.Planes, f.app())
			f.deploy(t, "web", templateNaming([]string{"app"}, nil))
			f.deploy(t, "api", templateNaming([]string{"app"}, nil))
			f.settled(t)
			test.change(t, f)
			f.mustReconcile(t)
			if f.isOnHub(t, f.app()) == test.wantGone {
				t.Fatalf("it is gone: %t", !test.wantGone)
			}
			if test.wantGone {
				return
			}
			var owners []string
			for _, owner := range f.appOnHub(t).OwnerReferences {
				owners = append(owners, owner.Name)
			}
			slices.Sort(owners)
			if !slices.Equal(owners, test.wantOwners) {
				t.Errorf("owners are %v, want %v", owners, test.wantOwners)
			}
		})
	}
}

// TestACopyIsReplacedMeanwhile: only the copy that was read is deleted, and a copy that is gone already is no error.
func TestACopyIsReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]bool{"by another object": true, "by nothing": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t).engage(t)
			source := planes.Create(t, f.Planes, f.app())
			f.deploy(t, "web", templateNaming([]string{"app"}, nil))
			f.settled(t)
			var second types.UID
			planes.Delete(t, f.Planes, source)
			f.await(t, source)
			f.Hub.Once("delete", "ConfigMap", func() error {
				planes.Delete(t, f.Planes, f.appOnHub(t))
				if replace {
					theirs := f.app()
					theirs.Namespace = f.HubNamespace
					second = planes.Create(t, f.Planes, theirs).UID
				}
				return nil
			})
			f.mustReconcile(t)
			if f.isOnHub(t, f.app()) != replace || replace && f.appOnHub(t).UID != second {
				t.Error("another object than the copy was deleted")
			}
		})
	}
}

// TestDataThatIsTooLargeTogether is not copied, except for the objects that another deployment names.
func TestDataThatIsTooLargeTogether(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		one := f.app()
		one.Name, one.BinaryData = name, map[string][]byte{"x": make([]byte, maxObject-20)}
		planes.Create(t, f.Planes, one)
	}
	f.deploy(t, "web", templateNaming(names, nil))
	f.deploy(t, "api", templateNaming(names[:1], nil))
	f.mustReconcile(t)
	for _, name := range names {
		one := f.app()
		one.Name = name
		if got := f.isOnHub(t, one); got != (name == "a") {
			t.Errorf("%s is copied: %t", name, got)
		}
	}
	f.wantReason(t, "web", v1alpha.ReasonSourceTooLarge)
	f.wantReason(t, "api", v1alpha.ReasonAwaitingPropagation)
}

// TestACopyWaitsForItsDeployment: the deployment that names it was deleted by mistake, will be recreated and still
// runs.
func TestACopyWaitsForItsDeployment(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.app())
	original := f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	f.deploy(t, "other", templateNaming(nil, nil))
	f.settled(t)
	planes.Delete(t, f.Planes, original)
	f.mustReconcile(t)
	if !f.isOnHub(t, f.app()) {
		t.Fatal("it is deleted while its deployment is on the hub")
	}
	planes.Delete(t, f.Planes, planes.Get(t, f.Planes, f.HubNamespace, "web", &v1alpha.WorkloadDeployment{}))
	f.mustReconcile(t)
	if f.isOnHub(t, f.app()) {
		t.Error("it stays without its deployment")
	}
}

// TestACopyStaysWhenMiloIsEmpty: a Milo that has lost its storage has no original of any copy.
func TestACopyStaysWhenMiloIsEmpty(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	source := planes.Create(t, f.Planes, f.app())
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	f.settled(t)
	copied := f.appOnHub(t)
	f.gone = true
	planes.Delete(t, f.Planes, source)
	f.mustReconcile(t)
	if !planes.Exists(t, f.Planes, copied) {
		t.Fatal("the copy was deleted because an empty Milo does not have the source")
	}
	f.gone = false
	f.mustReconcile(t)
	if planes.Exists(t, f.Planes, copied) {
		t.Error("the copy stays although the source was deleted")
	}
}
