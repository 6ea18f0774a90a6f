// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"slices"
	"strings"
	"testing"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// report plays the cell of a deployment, which reports an Instance of its template that has its data, or lacks it.
func (f *fixture) report(t *testing.T, name string, ready metav1.ConditionStatus) {
	t.Helper()
	f.reportData(t, name, metav1.Condition{Status: ready, Reason: "Test", Message: "not in the cell: ConfigMap app"})
}

// reportData plays the cell, whose Instance has this condition about its data.
func (f *fixture) reportData(t *testing.T, name string, condition metav1.Condition) {
	t.Helper()
	condition.Type, condition.LastTransitionTime = v1alpha.ConditionReferencedDataReady, metav1.Unix(1000, 0)
	copied := f.Deployment(name, "")
	copied.Namespace = f.HubNamespace
	planes.ChangeReports(t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) {
		hash, err := templates.Hash(&d.Spec.Template)
		if err != nil {
			t.Fatal(err)
		}
		planes.SetReport(t, d, "dfw", wire.Instance{Name: name + "-0", TemplateHash: hash, Conditions: []metav1.Condition{condition}})
	})
}

// TestCondition follows the data from the project to the cell.
func TestCondition(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	original := f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	start := f.clock.Now()
	want := func(when, reason, message string, since time.Time) {
		t.Helper()
		f.mustReconcile(t)
		got := f.condition(t, "web")
		if got == nil || got.Reason != reason || got.Message != message || !got.LastTransitionTime.Time.Equal(since) ||
			got.ObservedGeneration != planes.Get(t, f.Planes, f.Namespace.Name, "web", &v1alpha.WorkloadDeployment{}).Generation {
			t.Errorf("%s: %+v", when, got)
		}
		if writes := f.mustReconcile(t); len(writes) > 0 {
			t.Errorf("%s: it does not settle: %v", when, writes)
		}
	}
	missing := "ConfigMap app does not exist in namespace " + f.Namespace.Name + " of the project; create it"
	want("without the ConfigMap", v1alpha.ReasonSourceNotFound, missing, start)
	f.clock.SetTime(start.Add(time.Minute))
	planes.Create(t, f.Planes, f.app())
	f.await(t, f.app())
	want("with it", v1alpha.ReasonAwaitingPropagation, "waiting for the cell of DFW to report that it has the data", start)
	f.report(t, "web", metav1.ConditionFalse)
	want("on its way", v1alpha.ReasonAwaitingPropagation, "not in the cell: ConfigMap app", start)
	f.report(t, "web", metav1.ConditionTrue)
	want("arrived", v1alpha.ReasonReferencedDataPresent,
		"every ConfigMap and Secret that the template names is in the cell", start.Add(time.Minute))

	f.clock.SetTime(start.Add(time.Hour))
	planes.Change(t, f.Planes, original, func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 3 })
	want("another generation", v1alpha.ReasonReferencedDataPresent,
		"every ConfigMap and Secret that the template names is in the cell", start.Add(time.Minute))
	planes.Change(t, f.Planes, original, func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = planes.Template("registry.example/app:1") })
	f.mustReconcile(t)
	f.wantReason(t, "web", "")
}

// TestDataTakenByAPolicy: a policy of others that claims a copy is named, and so is the end of its claim. The data stays
// ready.
func TestDataTakenByAPolicy(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	f.mustReconcile(t)
	planes.Create(t, f.Planes, f.app())
	f.await(t, f.app())
	f.mustReconcile(t)
	f.report(t, "web", metav1.ConditionTrue)
	f.mustReconcile(t)
	const taken = v1alpha.ReasonReferencedDataTaken
	for version, step := range map[string]struct{ key, reason, message string }{
		"1": {policyv1alpha1.ClusterPropagationPolicyAnnotation, taken, "ClusterPropagationPolicy greedy propagates ConfigMap app, too"},
		"2": {policyv1alpha1.PropagationPolicyNameAnnotation, taken, "PropagationPolicy greedy propagates ConfigMap app, too"},
		"3": {"another.example.com/annotation", v1alpha.ReasonReferencedDataPresent, "every ConfigMap and Secret"},
	} {
		planes.Change(t, f.Planes, f.appOnHub(t), func(c *corev1.ConfigMap) {
			delete(c.Annotations, policyv1alpha1.ClusterPropagationPolicyAnnotation)
			delete(c.Annotations, policyv1alpha1.PropagationPolicyNameAnnotation)
			c.Annotations[step.key] = "greedy"
		})
		f.reconciler.ofBinding(t.Context(), bindingOf(t, f.HubNamespace, version))
		f.mustReconcile(t)
		got := f.condition(t, "web")
		if got == nil || got.Status != metav1.ConditionTrue || got.Reason != step.reason || !strings.HasPrefix(got.Message, step.message) {
			t.Errorf("claimed by %s it is %+v", step.key, got)
		}
	}
}

// TestConditionsOfOthersStay: projection writes the rest of the status.
func TestConditionsOfOthersStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	original := f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	original.Status = v1alpha.WorkloadDeploymentStatus{ObservedGeneration: 1, Conditions: []metav1.Condition{{
		Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.Unix(1000, 0),
	}}}
	if err := apply.Status(t.Context(), f.Client, "projection", original); err != nil {
		t.Fatal(err)
	}
	f.mustReconcile(t)
	planes.Change(t, f.Planes, original, func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = planes.Template("registry.example/app:1") })
	f.mustReconcile(t)
	got := planes.Get(t, f.Planes, f.Namespace.Name, "web", &v1alpha.WorkloadDeployment{}).Status
	if got.ObservedGeneration != 1 || len(got.Conditions) != 1 || meta.FindStatusCondition(got.Conditions, v1alpha.ConditionAvailable) == nil {
		t.Errorf("the status is %+v", got)
	}
}

// TestADeploymentThatIsBeingDeleted gets no condition.
func TestADeploymentThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	original := f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	planes.Change(t, f.Planes, original, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{v1alpha.FinalizerPropagation} })
	planes.Delete(t, f.Planes, original)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("it writes %v", writes)
	}
}

// TestTheConditionOfARecreatedDeployment: the condition of a deployment is not written to a later one of its name, and
// other deployments get theirs.
func TestTheConditionOfARecreatedDeployment(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	first := f.deploy(t, "api", templateNaming([]string{"app"}, nil))
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	f.Project.Once("apply status", "WorkloadDeployment", func() error {
		planes.Delete(t, f.Planes, first)
		planes.Create(t, f.Planes, f.Deployment("api", "DFW"))
		return nil
	})
	if _, err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	f.wantReason(t, "api", "")
	f.wantReason(t, "web", v1alpha.ReasonSourceNotFound)
}

// TestOptionalData: missing optional data does not block a deployment, and is copied when it is created.
func TestOptionalData(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	template := templateNaming([]string{"app"}, nil)
	template.Spec.Volumes[0].ConfigMap.Optional = new(true)
	f.deploy(t, "web", template)
	f.mustReconcile(t)
	f.wantReason(t, "web", v1alpha.ReasonAwaitingPropagation)
	f.sync(t)
	planes.Create(t, f.Planes, f.app())
	f.await(t, f.app())
	f.mustReconcile(t)
	if !f.isOnHub(t, f.app()) {
		t.Error("it is not copied")
	}
	if slices.ContainsFunc(f.mustReconcile(t), func(call planes.Call) bool { return call.Kind == "ConfigMap" }) {
		t.Error("it is copied again")
	}
}
