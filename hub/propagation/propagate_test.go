// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"errors"
	"slices"
	"testing"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestPropagation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")

	original := f.readOriginal(t)
	if original.Annotations[v1alpha.AnnotationHubNamespace] != f.HubNamespace ||
		!slices.Contains(original.Finalizers, v1alpha.FinalizerPropagation) {
		t.Errorf("the original is %+v", original.ObjectMeta)
	}
	namespace := read(t, f, f.namespace())
	work := read(t, f, f.work())
	if owners := work.OwnerReferences; len(owners) != 1 || owners[0].UID != namespace.UID ||
		work.Labels[v1alpha.LabelHubNamespace] != f.HubNamespace {
		t.Errorf("the Work is %+v", work.ObjectMeta)
	}
	policy := read(t, f, f.policy())
	if policy.Annotations[v1alpha.AnnotationProjectName] != "north" || len(policy.Spec.Placement.SpreadConstraints) != 1 {
		t.Errorf("the policy is %+v", policy)
	}
	copied := read(t, f, f.copied())
	if copied.Labels[v1alpha.LabelDeploymentUID] != string(original.UID) ||
		copied.Labels[v1alpha.LabelProjectUID] != string(planes.ProjectUID) ||
		!equality.Semantic.DeepEqual(copied.Spec.Template, original.Spec.Template) {
		t.Errorf("the copy is %+v", copied)
	}
	if indices := naming.Assigned(copied.Spec.Assignment, f.cell.Name); !slices.Equal(indices, []int{0, 1}) {
		t.Errorf("the cell has indices %v", indices)
	}
	for _, obj := range []client.Object{work, policy, copied} {
		if obj.GetLabels()[v1alpha.LabelTopologyCity] == "" {
			t.Errorf("%T has no city", obj)
		}
	}
	checkProvenance(t, f.Namespace.Name, namespace, work, copied)
	f.clock.SetTime(f.clock.Now().Add(time.Hour))
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
}

// checkProvenance checks that objects name the project namespace that they come from.
func checkProvenance(t *testing.T, namespace string, objects ...client.Object) {
	t.Helper()
	for _, obj := range objects {
		if obj.GetLabels()[v1alpha.LabelProjectNamespace] != namespace {
			t.Errorf("the labels of %T are %v", obj, obj.GetLabels())
		}
	}
}

// TestTheCopyNamesWhatItRequires: a cell with an older CRD drops the fields, and not the annotation.
func TestTheCopyNamesWhatItRequires(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	if got := read(t, f, f.copied()); got.Annotations[v1alpha.AnnotationRequires] != "assignment" || len(templates.MissingFields(got)) > 0 {
		t.Errorf("the annotations are %v", got.Annotations)
	}
	f.suspended.suspended = true
	f.mustReconcile(t, "web")
	if got := read(t, f, f.copied()); got.Annotations[v1alpha.AnnotationRequires] != "assignment,suspended" {
		t.Errorf("of a suspended project the annotations are %v", got.Annotations)
	}
}

// TestTheCopySaysWhatTheHubIntends: a cell compares with it what override policies make of the copy.
func TestTheCopySaysWhatTheHubIntends(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: 1, Template: *d.Spec.Template.DeepCopy()}
		d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "example.com/next"
		d.Spec.Floor = &v1alpha.AvailabilityFloor{MinAvailable: 1, Sequence: 3}
		d.Spec.MinReadySeconds = new(int32(5))
		d.Spec.Rollout = &v1alpha.WorkloadRollout{MaxUnavailable: new(intstr.FromString("25%"))}
	})
	f.mustReconcile(t, "web")
	copied := read(t, f, f.copied())
	template, earlier := templates.IntendedHashes(copied)
	for _, c := range []struct {
		of   *v1alpha.InstanceTemplateSpec
		hash string
	}{{&copied.Spec.Template, template}, {&copied.Spec.Partition.Template, earlier}} {
		if want, err := templates.Hash(c.of); err != nil || c.hash != want {
			t.Errorf("of a template it has %q, want %q, %v", c.hash, want, err)
		}
	}
	copied.Spec.Assignment.Cells[0].Indices = nil
	copied.Spec.Floor.MinAvailable = 0
	if got := templates.OverriddenFields(copied); !slices.Equal(got, []string{"assignment", "floor"}) {
		t.Errorf("a cell refuses %v", got)
	}
}

// TestTheOriginalIsMarkedFirst: every object on the hub would be found by a deletion of the original.
func TestTheOriginalIsMarkedFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Project.Once("patch", "WorkloadDeployment", func() error {
		planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Labels["changed"] = "meanwhile" })
		return nil
	})
	if _, err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if writes := f.Hub.Writes(); len(writes) > 0 {
		t.Errorf("before the original is marked, it writes %v", writes)
	}
	refused := errors.New("connection refused")
	f.Hub.Before(func(call planes.Call) error {
		if call.Verb == "create" {
			return refused
		}
		return nil
	})
	if _, err := f.reconcile(t); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	got := f.readOriginal(t)
	if got.Annotations[v1alpha.AnnotationHubNamespace] != f.HubNamespace || len(got.Finalizers) != 1 {
		t.Errorf("the original is %+v", got.ObjectMeta)
	}
}

// TestTheHubNamespaceIsDecidedOnce: it is decided past the caches, and not again while the copy exists that was created
// there.
func TestTheHubNamespaceIsDecidedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, want := range []bool{true, false} {
		f.Project.Calls()
		if _, err := f.reconcile(t); err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(f.Project.Calls(), planes.Call{Verb: "get", Kind: "Namespace", Name: f.Namespace.Name}); got != want {
			t.Errorf("the project is asked for the UID of its namespace: %t", got)
		}
	}
}

func TestRestored(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*testing.T, *fixture)
		check  func(*testing.T, *fixture) bool
	}{
		"labels of the namespace": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.namespace(), func(n *corev1.Namespace) {
					delete(n.Labels, "namespace.karmada.io/skip-auto-propagation")
					delete(n.Labels, v1alpha.LabelProjectNamespaceUID)
				})
			},
			func(t *testing.T, f *fixture) bool {
				t.Helper()
				return read(t, f, f.namespace()).Labels["namespace.karmada.io/skip-auto-propagation"] == "true"
			},
		},
		"a namespace that was recreated owns the Work": {
			func(t *testing.T, f *fixture) { t.Helper(); f.EndHubNamespace(t) },
			func(t *testing.T, f *fixture) bool {
				t.Helper()
				owners := read(t, f, f.work()).OwnerReferences
				return len(owners) == 1 && owners[0].UID == read(t, f, f.namespace()).UID
			},
		},
		"labels of the Work": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.work(), func(w *workv1alpha1.Work) { w.Labels = nil })
			},
			func(t *testing.T, f *fixture) bool {
				t.Helper()
				return read(t, f, f.work()).Labels[v1alpha.LabelHubNamespace] == f.HubNamespace
			},
		},
		"a deleted Work": {
			func(t *testing.T, f *fixture) { t.Helper(); end(t, f, f.work()); planes.Delete(t, f.Planes, f.work()) },
			func(t *testing.T, f *fixture) bool { t.Helper(); return planes.Exists(t, f.Planes, f.work()) },
		},
		"a deleted policy": {
			func(t *testing.T, f *fixture) { t.Helper(); planes.Delete(t, f.Planes, f.policy()) },
			func(t *testing.T, f *fixture) bool { t.Helper(); return planes.Exists(t, f.Planes, f.policy()) },
		},
		"a changed policy": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.policy(), func(p *policyv1alpha1.PropagationPolicy) { p.Spec.ResourceSelectors[0].Kind = "Deployment" })
			},
			func(t *testing.T, f *fixture) bool {
				t.Helper()
				return read(t, f, f.policy()).Spec.ResourceSelectors[0].Kind == v1alpha.KindWorkloadDeployment
			},
		},
		"labels of the policy": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.policy(), func(p *policyv1alpha1.PropagationPolicy) { p.Labels = nil })
			},
			func(t *testing.T, f *fixture) bool {
				t.Helper()
				return read(t, f, f.policy()).Labels[v1alpha.LabelTopologyCity] != ""
			},
		},
		"a deleted copy": {
			func(t *testing.T, f *fixture) { t.Helper(); planes.Delete(t, f.Planes, f.copied()) },
			func(t *testing.T, f *fixture) bool { t.Helper(); return planes.Exists(t, f.Planes, f.copied()) },
		},
		"a field that was added to the copy": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) { d.Spec.Replicas = new(int32(9)) })
			},
			func(t *testing.T, f *fixture) bool { t.Helper(); return read(t, f, f.copied()).Spec.Replicas == nil },
		},
		"annotations of the copy": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) { d.Annotations = nil })
			},
			func(t *testing.T, f *fixture) bool {
				t.Helper()
				return read(t, f, f.copied()).Annotations[v1alpha.AnnotationProjectGeneration] == "1"
			},
		},
		"a copy that nobody marked": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) { d.Labels = nil })
			},
			func(t *testing.T, f *fixture) bool {
				t.Helper()
				return read(t, f, f.copied()).Labels[v1alpha.LabelDeploymentUID] == string(f.original.UID)
			},
		},
		"a new scale arrives": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 3 })
			},
			func(t *testing.T, f *fixture) bool {
				t.Helper()
				copied := read(t, f, f.copied())
				return copied.Spec.ScaleSettings.MinReplicas == 3 && copied.Annotations[v1alpha.AnnotationProjectGeneration] == "2" &&
					len(naming.Assigned(copied.Spec.Assignment, f.cell.Name)) == 3
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.mustReconcile(t, "web")
			test.change(t, f)
			f.mustReconcile(t, "web")
			if !test.check(t, f) {
				t.Error("it is not restored")
			}
			if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
		})
	}
}

// TestAPolicyHasNothingMore: a field that is added to a placement would change where Instances run.
func TestAPolicyHasNothingMore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	planes.Change(t, f.Planes, f.policy(), func(p *policyv1alpha1.PropagationPolicy) {
		p.Spec.Placement.ClusterAffinity.ExcludeClusters = []string{f.cell.Name}
	})
	f.mustReconcile(t, "web")
	if got := read(t, f, f.policy()).Spec.Placement.ClusterAffinity.ExcludeClusters; len(got) > 0 {
		t.Errorf("excluded are %v", got)
	}
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	hub := func(f *fixture) *planes.Plane { return f.Hub }
	project := func(f *fixture) *planes.Plane { return f.Project }
	tests := map[string]struct {
		plane      func(*fixture) *planes.Plane
		verb, kind string
	}{
		"the original":             {project, "get", "WorkloadDeployment"},
		"the namespace's UID":      {project, "get", "Namespace"},
		"the mark on the original": {project, "patch", "WorkloadDeployment"},
		"the Clusters":             {hub, "list", "ClusterList"},
		"the hub namespace":        {hub, "get", "Namespace"},
		"its creation":             {hub, "create", "Namespace"},
		"the Work":                 {hub, "get", "Work"},
		"the Work's write":         {hub, "apply", "Work"},
		"the policy":               {hub, "get", "PropagationPolicy"},
		"the policy's write":       {hub, "apply", "PropagationPolicy"},
		"the copy":                 {hub, "get", "WorkloadDeployment"},
		"the binding":              {hub, "get", "ResourceBinding"},
		"the copy's write":         {hub, "apply", "WorkloadDeployment"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			test.plane(f).Once(test.verb, test.kind, func() error { return refused })
			if _, err := f.reconcile(t); !errors.Is(err, refused) {
				t.Errorf("got %v", err)
			}
			f.mustReconcile(t, "web")
			if !planes.Exists(t, f.Planes, f.copied()) {
				t.Error("after the error the copy is not there")
			}
		})
	}
}

func TestNothingToPropagate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if writes := f.mustReconcile(t, "missing"); len(writes) > 0 {
		t.Errorf("for a deployment that does not exist it writes %v", writes)
	}
	for _, project := range []multicluster.ClusterName{"", "another-replica's"} {
		if _, err := f.reconciler.Reconcile(t.Context(), mcreconcile.Request{ClusterName: project}); !errors.Is(err,
			multicluster.ErrClusterNotFound) {
			t.Errorf("of project %q, which is not engaged: %v", project, err)
		}
	}
}
