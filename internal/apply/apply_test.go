// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"os"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

const (
	manager = apply.FieldManager("apply-test")
	other   = apply.FieldManager("somebody-else")
)

func TestObject(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// before is applied by the manager, by another, and changed is then applied by the manager.
		before, others, changed func(*v1alpha.WorkloadDeployment)
		check                   func(*v1alpha.WorkloadDeployment) bool
	}{
		"sets what is desired": {
			changed: func(d *v1alpha.WorkloadDeployment) { d.Labels["a"], d.Spec.ScaleSettings.MinReplicas = "1", 7 },
			check: func(d *v1alpha.WorkloadDeployment) bool {
				return d.Labels["a"] == "1" && d.Spec.ScaleSettings.MinReplicas == 7
			},
		},
		"takes over fields of others": {
			others:  func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 9 },
			changed: func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 3 },
			check:   func(d *v1alpha.WorkloadDeployment) bool { return d.Spec.ScaleSettings.MinReplicas == 3 },
		},
		"removes what is not desired any more": {
			before: func(d *v1alpha.WorkloadDeployment) { d.Labels["a"], d.Spec.Replicas = "1", new(int32(5)) },
			check:  func(d *v1alpha.WorkloadDeployment) bool { return d.Labels["a"] == "" && d.Spec.Replicas == nil },
		},
		"leaves what others added": {
			others: func(d *v1alpha.WorkloadDeployment) { d.Labels["theirs"], d.Spec.Replicas = "1", new(int32(5)) },
			check:  func(d *v1alpha.WorkloadDeployment) bool { return d.Labels["theirs"] == "1" && *d.Spec.Replicas == 5 },
		},
		"leaves the status": {
			changed: func(d *v1alpha.WorkloadDeployment) { d.Status.ObservedGeneration = 7 },
			check:   func(d *v1alpha.WorkloadDeployment) bool { return d.Status.ObservedGeneration == 0 },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planes.New(t)
			write := func(manager apply.FieldManager, change func(*v1alpha.WorkloadDeployment)) *v1alpha.WorkloadDeployment {
				desired := p.Deployment("web", "DFW")
				if change != nil {
					change(desired)
				}
				stored, err := apply.Object(t.Context(), p.Client, manager, desired)
				if err != nil {
					t.Fatal(err)
				}
				return stored
			}
			first := write(manager, test.before)
			if test.others != nil {
				write(other, test.others)
			}
			returned := write(manager, test.changed)
			stored := planes.Get(t, p, returned.Namespace, "web", &v1alpha.WorkloadDeployment{})
			if !test.check(stored) || !test.check(returned) {
				t.Errorf("stored %+v, returned %+v", stored, returned)
			}
			if stored.UID != first.UID || returned.UID != first.UID || returned.ResourceVersion != stored.ResourceVersion {
				t.Errorf("%s %s was made, %s %s is stored, %s %s was returned",
					first.UID, first.ResourceVersion, stored.UID, stored.ResourceVersion, returned.UID, returned.ResourceVersion)
			}
		})
	}
}

func TestExact(t *testing.T) {
	t.Parallel()
	extra := func(d *v1alpha.WorkloadDeployment) { d.Spec.Replicas = new(int32(5)) }
	tests := map[string]struct {
		// before changes the object that Exact created first.
		before     func(*v1alpha.WorkloadDeployment)
		changed    func(*v1alpha.WorkloadDeployment)
		wantWrites []string
	}{
		"nothing differs":               {},
		"what others added to metadata": {before: func(d *v1alpha.WorkloadDeployment) { d.Labels["theirs"] = "1" }},
		"what others added to the spec": {before: extra, wantWrites: []string{"apply", "patch"}},
		"what others changed": {
			before: func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 9 }, wantWrites: []string{"apply"},
		},
		"what others removed": {before: func(d *v1alpha.WorkloadDeployment) { d.Labels = nil }, wantWrites: []string{"apply"}},
		"a desired change": {
			changed: func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 3 }, wantWrites: []string{"apply"},
		},
		"a desired change of metadata":   {changed: func(d *v1alpha.WorkloadDeployment) { d.Labels["a"] = "b" }, wantWrites: []string{"apply"}},
		"a change of the desired status": {changed: func(d *v1alpha.WorkloadDeployment) { d.Status.ObservedGeneration = 7 }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planes.New(t)
			existing, err := apply.Exact(t.Context(), p.Project, manager, &v1alpha.WorkloadDeployment{}, p.Deployment("web", "DFW"))
			if err != nil {
				t.Fatal(err)
			}
			if test.before != nil {
				planes.Change(t, p, existing, test.before)
			}
			desired := p.Deployment("web", "DFW")
			if test.changed != nil {
				test.changed(desired)
			}
			p.Project.Calls()
			returned, err := apply.Exact(t.Context(), p.Project, manager, existing, desired)
			if err != nil {
				t.Fatal(err)
			}
			var writes []string
			for _, call := range p.Project.Writes() {
				writes = append(writes, call.Verb)
			}
			if !slices.Equal(writes, test.wantWrites) {
				t.Errorf("writes %v, want %v", writes, test.wantWrites)
			}
			stored := planes.Get(t, p, existing.Namespace, "web", &v1alpha.WorkloadDeployment{})
			if stored.Spec.Replicas != nil || stored.Spec.ScaleSettings.MinReplicas != desired.Spec.ScaleSettings.MinReplicas ||
				apply.MetadataDiffers(stored, desired) || returned.Generation != stored.Generation ||
				returned.ResourceVersion != stored.ResourceVersion {
				t.Errorf("stored %+v, returned %+v", stored, returned)
			}
		})
	}
}

// TestExactOfARecreatedObject: values read from an object are not written to another object that has its name by now.
func TestExactOfARecreatedObject(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	existing := planes.Create(t, p, p.Deployment("web", "DFW"))
	planes.Change(t, p, existing, func(d *v1alpha.WorkloadDeployment) { d.Spec.Replicas = new(int32(5)) })
	p.Project.Once("patch", "WorkloadDeployment", func() error {
		planes.Delete(t, p, existing)
		second := p.Deployment("web", "DFW")
		second.Spec.Replicas = new(int32(6))
		planes.Create(t, p, second)
		return nil
	})
	if _, err := apply.Exact(t.Context(), p.Project, manager, existing, p.Deployment("web", "DFW")); !apierrors.IsInvalid(err) {
		t.Errorf("got %v", err)
	}
	if got := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{}); *got.Spec.Replicas != 6 {
		t.Errorf("the other object has %d replicas", *got.Spec.Replicas)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	stored := planes.Create(t, p, p.Deployment("web", "DFW"))
	planes.Change(t, p, stored, func(d *v1alpha.WorkloadDeployment) { d.Labels = map[string]string{"theirs": "1"} })
	if err := apply.Replace(t.Context(), p.Client, manager, stored, map[string]any{
		"/metadata/labels": map[string]string{"ours": "1"}, "/spec/replicas": 4,
	}); err != nil {
		t.Fatal(err)
	}
	got := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
	if len(got.Labels) != 1 || got.Labels["ours"] != "1" || got.Spec.Replicas == nil || *got.Spec.Replicas != 4 {
		t.Errorf("got %+v", got)
	}
	planes.Delete(t, p, stored)
	if err := apply.Replace(t.Context(), p.Client, manager, stored, map[string]any{"/spec/replicas": 4}); !apierrors.IsNotFound(err) {
		t.Errorf("of an object that is gone: %v", err)
	}
}

// TestAnUnknownKind: a kind that the scheme does not know is an error that names it, without a request.
func TestAnUnknownKind(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	unknown := &metav1.PartialObjectMetadata{}
	if _, err := apply.Object(t.Context(), p.Project, manager, unknown); err == nil {
		t.Error("Object wrote an object without a kind")
	}
	if err := apply.Status(t.Context(), p.Project, manager, unknown); err == nil {
		t.Error("Status wrote an object without a kind")
	}
	if err := apply.Conditions(t.Context(), p.Project, manager, unknown); err == nil {
		t.Error("Conditions wrote an object without a kind")
	}
	if writes := p.Project.Writes(); len(writes) > 0 {
		t.Errorf("requests %v", writes)
	}
}

// TestExactLeavesTheRest: a part of the spec that belongs to another field manager stays as stored, whatever else is
// replaced.
func TestExactLeavesTheRest(t *testing.T) {
	t.Parallel()
	leave := func(stored, wanted *v1alpha.WorkloadDeployment) {
		if wanted.Spec.Quota != nil && stored.Spec.Quota != nil {
			wanted.Spec.Quota = stored.Spec.Quota
		}
	}
	p := planes.New(t)
	desired := func() *v1alpha.WorkloadDeployment {
		d := p.Deployment("web", "DFW")
		d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{}
		return d
	}
	existing, err := apply.Exact(t.Context(), p.Project, manager, &v1alpha.WorkloadDeployment{}, desired(), leave)
	if err != nil {
		t.Fatal(err)
	}
	theirs := &v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges([]int{0, 1})}
	planes.Change(t, p, existing, func(d *v1alpha.WorkloadDeployment) { d.Spec.Quota = theirs })
	p.Project.Calls()
	if _, err := apply.Exact(t.Context(), p.Project, manager, existing, desired(), leave); err != nil || len(p.Project.Writes()) > 0 {
		t.Errorf("for what is theirs it writes, %v", err)
	}
	planes.Change(t, p, existing, func(d *v1alpha.WorkloadDeployment) { d.Spec.Replicas = new(int32(5)) })
	// Before the field is removed they change their part: that must not be undone.
	p.Project.Once("patch", "WorkloadDeployment", func() error {
		planes.Change(t, p, existing.DeepCopy(), func(d *v1alpha.WorkloadDeployment) { d.Spec.Quota.Granted = naming.Ranges([]int{3}) })
		return nil
	})
	if _, err := apply.Exact(t.Context(), p.Project, manager, existing, desired(), leave); !apierrors.IsConflict(err) {
		t.Errorf("with an earlier version of their part: %v", err)
	}
	existing = planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
	if _, err := apply.Exact(t.Context(), p.Project, manager, existing, desired(), leave); err != nil {
		t.Fatal(err)
	}
	got := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
	if got.Spec.Replicas != nil || !slices.Equal(naming.OfRanges(got.Spec.Quota.Granted), []int{3}) {
		t.Errorf("stored is %+v", got.Spec)
	}
}
