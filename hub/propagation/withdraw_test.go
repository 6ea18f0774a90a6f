// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"errors"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// propagated returns a fixture whose deployment is on the hub and then deleted in the project.
func propagated(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	hold(t, f, f.copied())
	return f
}

// TestWithdrawal of the last deployment: first its copy is deleted, then the shared objects, and the original last.
func TestWithdrawal(t *testing.T) {
	t.Parallel()
	f := propagated(t)
	planes.Delete(t, f.Planes, f.original)

	f.mustReconcile(t, "web")
	if read(t, f, f.copied()).DeletionTimestamp.IsZero() {
		t.Error("the copy is not deleted")
	}
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("while the copy ends, it writes %v", writes)
	}
	if !planes.Exists(t, f.Planes, f.policy()) || !planes.Exists(t, f.Planes, f.original) {
		t.Error("something goes before the copy has ended")
	}
	end(t, f, f.copied())
	f.mustReconcile(t, "web")
	if planes.Exists(t, f.Planes, f.policy()) {
		t.Error("the policy stays")
	}
	if read(t, f, f.work()).DeletionTimestamp.IsZero() {
		t.Error("the Work is not deleted")
	}
	if read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("the namespace is not deleted")
	}
	if planes.Exists(t, f.Planes, f.original) {
		t.Error("the original stays")
	}
}

func TestWhatOthersNeedStays(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// other creates another deployment, in the project or on the hub alone.
		other              func(*testing.T, *fixture)
		wantCity, wantRest bool
	}{
		"in the same city": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Create(t, f.Planes, f.Deployment("other", f.city))
			}, true, true,
		},
		"in another city": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Create(t, f.Planes, f.Deployment("other", planes.City()))
			}, false, true,
		},
		"on the hub alone": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				other := f.Deployment("other", f.city)
				other.Namespace = f.HubNamespace
				planes.Create(t, f.Planes, other)
			}, true, true,
		},
		"one that is being deleted": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				other := f.Deployment("other", f.city)
				other.Finalizers = []string{v1alpha.FinalizerPropagation}
				planes.Delete(t, f.Planes, planes.Create(t, f.Planes, other))
			}, false, false,
		},
		"one of another namespace": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				other := f.Deployment("other", f.city)
				other.Namespace = "default"
				other.Name = f.HubNamespace
				planes.Create(t, f.Planes, other)
			}, false, false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := propagated(t)
			end(t, f, f.copied())
			test.other(t, f)
			planes.Delete(t, f.Planes, f.original)
			f.mustReconcile(t, "web")
			f.mustReconcile(t, "web")
			if planes.Exists(t, f.Planes, f.original) {
				t.Error("the original stays")
			}
			if got := planes.Exists(t, f.Planes, f.policy()); got != test.wantCity {
				t.Errorf("the policy exists: %t", got)
			}
			if got := read(t, f, f.work()).DeletionTimestamp.IsZero(); got != test.wantCity {
				t.Errorf("the Work stays: %t", got)
			}
			if got := read(t, f, f.namespace()).DeletionTimestamp.IsZero(); got != test.wantRest {
				t.Errorf("the namespace stays: %t", got)
			}
		})
	}
}

// TestTheCacheIsBehind: objects that the hub's cache has not received are read past it, where a mistake would leave
// orphans.
func TestTheCacheIsBehind(t *testing.T) {
	t.Parallel()
	f := propagated(t)
	planes.Delete(t, f.Planes, f.original)
	f.Hub.Before(func(call planes.Call) error {
		if call.Verb == "get" || call.Verb == "list" {
			return apierrors.NewNotFound(schema.GroupResource{Resource: call.Kind}, call.Name)
		}
		return nil
	})
	f.mustReconcile(t, "web")
	if read(t, f, f.copied()).DeletionTimestamp.IsZero() || !planes.Exists(t, f.Planes, f.original) {
		t.Error("a copy that the cache does not have is not deleted")
	}
	end(t, f, f.copied())
	f.mustReconcile(t, "web")
	if read(t, f, f.work()).DeletionTimestamp.IsZero() {
		t.Error("a Work that the cache does not have is not deleted")
	}
}

func TestWithdrawalOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		finalizers  []string
		annotations map[string]string
		wantWrites  []string
	}{
		"not ours":               {finalizers: []string{"example.com/theirs"}},
		"never brought to a hub": {finalizers: []string{v1alpha.FinalizerPropagation}, wantWrites: []string{"patch"}},
		"nothing on the hub": {
			finalizers:  []string{v1alpha.FinalizerPropagation},
			annotations: map[string]string{v1alpha.AnnotationHubNamespace: "ns-that-does-not-exist"},
			wantWrites:  []string{"event ForeignHubNamespace", "patch"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
				d.Finalizers, d.Annotations = test.finalizers, test.annotations
			})
			planes.Delete(t, f.Planes, f.original)
			var writes []string
			for _, call := range f.mustReconcile(t, "web") {
				writes = append(writes, call.Verb)
			}
			if !slices.Equal(writes, test.wantWrites) {
				t.Errorf("writes are %v, want %v", writes, test.wantWrites)
			}
			if got := planes.Exists(t, f.Planes, f.original); got != (test.wantWrites == nil) {
				t.Errorf("the original exists: %t", got)
			}
		})
	}
}

func TestWithdrawalConflicts(t *testing.T) {
	t.Parallel()
	t.Run("the copy was recreated", func(t *testing.T) {
		t.Parallel()
		f := propagated(t)
		end(t, f, f.copied())
		planes.Delete(t, f.Planes, f.original)
		f.Hub.Once("delete", "WorkloadDeployment", func() error {
			second := read(t, f, f.copied())
			planes.Delete(t, f.Planes, second)
			second.ResourceVersion, second.UID = "", ""
			planes.Create(t, f.Planes, second)
			return nil
		})
		if _, err := f.reconcile(t); !apierrors.IsConflict(err) {
			t.Errorf("got %v", err)
		}
		if !planes.Exists(t, f.Planes, f.copied()) || !planes.Exists(t, f.Planes, f.original) {
			t.Error("another copy than that which was read is deleted")
		}
		f.mustReconcile(t, "web")
		f.mustReconcile(t, "web")
		if planes.Exists(t, f.Planes, f.copied()) || planes.Exists(t, f.Planes, f.original) {
			t.Error("after the conflict it is not withdrawn")
		}
	})
	t.Run("the original was changed", func(t *testing.T) {
		t.Parallel()
		f := propagated(t)
		end(t, f, f.copied())
		hold(t, f, f.original)
		planes.Delete(t, f.Planes, f.original)
		f.mustReconcile(t, "web")
		f.Project.Once("patch", "WorkloadDeployment", func() error {
			planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Labels["changed"] = "meanwhile" })
			return nil
		})
		if _, err := f.reconcile(t); !apierrors.IsConflict(err) {
			t.Errorf("got %v", err)
		}
		f.mustReconcile(t, "web")
		if got := f.readOriginal(t).Finalizers; !slices.Equal(got, []string{"example.com/held"}) {
			t.Errorf("finalizers are %v", got)
		}
	})
}

func TestWithdrawalErrors(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	hub := func(f *fixture) *planes.Plane { return f.Hub }
	api := func(f *fixture) *planes.Plane { return f.HubAPI }
	project := func(f *fixture) *planes.Plane { return f.Project }
	tests := map[string]struct {
		plane      func(*fixture) *planes.Plane
		verb, kind string
	}{
		"the copy":              {api, "get", "WorkloadDeployment"},
		"the copy's deletion":   {hub, "delete", "WorkloadDeployment"},
		"others in the project": {project, "list", "WorkloadDeploymentList"},
		"others on the hub":     {api, "list", "WorkloadDeploymentList"},
		"the policy":            {hub, "delete", "PropagationPolicy"},
		"the Works":             {api, "list", "WorkList"},
		"a Work":                {hub, "delete", "Work"},
		"the namespace":         {hub, "delete", "Namespace"},
		"the finalizer":         {project, "patch", "WorkloadDeployment"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := propagated(t)
			end(t, f, f.copied())
			planes.Delete(t, f.Planes, f.original)
			test.plane(f).Once(test.verb, test.kind, func() error { return refused })
			failed := false
			for range 2 {
				_, err := f.reconcile(t)
				failed = failed || errors.Is(err, refused)
			}
			if !failed || !planes.Exists(t, f.Planes, f.original) && name != "the copy" && name != "the copy's deletion" {
				t.Errorf("it failed: %t, the original exists: %t", failed, planes.Exists(t, f.Planes, f.original))
			}
			f.mustReconcile(t, "web")
			f.mustReconcile(t, "web")
			if planes.Exists(t, f.Planes, f.original) || planes.Exists(t, f.Planes, f.policy()) {
				t.Error("after the error it is not withdrawn")
			}
		})
	}
}

// TestWorksOfOtherCitiesStay: even Works of the same hub namespace.
func TestWorksOfOtherCitiesStay(t *testing.T) {
	t.Parallel()
	f := propagated(t)
	end(t, f, f.copied())
	elsewhere := planes.City()
	cell := f.Cell(t, elsewhere)
	planes.Create(t, f.Planes, f.Deployment("other", elsewhere))
	f.mustReconcile(t, "other")
	planes.Delete(t, f.Planes, f.original)
	f.mustReconcile(t, "web")
	f.mustReconcile(t, "web")
	if !read(t, f, f.workIn(cell)).DeletionTimestamp.IsZero() {
		t.Error("the Work of the other city is deleted")
	}
	if read(t, f, f.work()).DeletionTimestamp.IsZero() {
		t.Error("the Work of the city is not deleted")
	}
}
