// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

func newScope() *scope {
	original := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "uid", Generation: 9}}
	original.Spec.CityCode = "DFW"
	original.Spec.ScaleSettings.MinReplicas = 2
	original.Spec.Template.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: "new"}}}
	copied := original.DeepCopy()
	copied.Generation = 3
	copied.Annotations = map[string]string{v1alpha.AnnotationProjectGeneration: "9"}
	return &scope{
		Reconciler: New(Options{Clock: clocktesting.NewFakePassiveClock(time.Unix(1000, 0))}),
		facts:      facts{now: time.Unix(1000, 0), deployment: original, copied: copied, row: &path.Row{}},
	}
}

func TestObservedGeneration(t *testing.T) {
	cases := map[string]struct {
		hubObserved int64
		annotation  string
		before      int64
		want        int64
	}{
		"the cell has acted on the newest copy": {hubObserved: 3, annotation: "9", before: 8, want: 9},
		"the cell lags":                         {hubObserved: 2, annotation: "9", before: 8, want: 8},
		"an annotation that was spoiled":        {hubObserved: 3, annotation: "x", before: 8, want: 8},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScope()
			s.copied.Status.ObservedGeneration = c.hubObserved
			s.copied.Annotations[v1alpha.AnnotationProjectGeneration] = c.annotation
			s.deployment.Status.ObservedGeneration = c.before
			if got := s.observedGeneration(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestDesiredStatusWithoutReport(t *testing.T) {
	for served, want := range map[bool]string{true: v1alpha.ReasonInstancesProvisioning, false: v1alpha.ReasonNoMatchingLocation} {
		status := newScope().desiredStatus(served, "")
		available := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionAvailable)
		if available == nil || available.Status != metav1.ConditionFalse || available.Reason != want || available.Message == "" {
			t.Errorf("served %t: condition is %+v, want reason %s", served, available, want)
		}
		if status.DesiredReplicas != 2 {
			t.Errorf("desiredReplicas is %d, want 2", status.DesiredReplicas)
		}
	}
}

func TestDesiredInstanceKeepsTheSpecOfAnOlderTemplate(t *testing.T) {
	s := newScope()
	existing := &v1alpha.Instance{}
	existing.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: "old"}}}
	existing.Spec.Controller = &v1alpha.InstanceController{TemplateHash: "old-hash"}
	cases := map[string]struct {
		reported string
		want     string
	}{
		"still the old one": {reported: "old-hash", want: "old"},
		"the new one":       {reported: "new-hash", want: "new"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := s.desiredInstance(&wire.Instance{Name: "web-0", TemplateHash: c.reported}, existing, "new-hash")
			if image := got.Spec.Runtime.Sandbox.Containers[0].Image; image != c.want {
				t.Errorf("image is %q, want %q", image, c.want)
			}
			if got.Labels[v1alpha.LabelInstanceIndex] != "0" || got.OwnerReferences[0].UID != "uid" {
				t.Errorf("metadata is %+v", got.ObjectMeta)
			}
		})
	}
}

// TestACellSchedulesNothing: a cell cannot say that Karmada has found no cell.
func TestACellSchedulesNothing(t *testing.T) {
	s := newScope()
	s.copied.Status.Conditions = []metav1.Condition{
		{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue},
		{Type: v1alpha.ConditionScheduled, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonNoCapacity},
	}
	if got := meta.FindStatusCondition(s.desiredStatus(true, "").Conditions, v1alpha.ConditionScheduled); got != nil {
		t.Errorf("it is %+v", got)
	}
}

// TestDataOfAnInstance: the project shows which data an Instance was started with.
func TestDataOfAnInstance(t *testing.T) {
	got := desiredInstanceStatus(&wire.Instance{ObservedTemplateHash: "abc", DataHash: "0123456789abcdef"}, 1)
	if got.Controller == nil || got.Controller.DataHash != "0123456789abcdef" {
		t.Errorf("it shows %+v", got.Controller)
	}
}

func TestTheConditionOfDataIsNotProjections(t *testing.T) {
	data := metav1.Condition{Type: v1alpha.ConditionReferencedDataReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonSourceNotFound}
	available := metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonStableInstanceFound}
	s := newScope()
	s.deployment.Status.Conditions = []metav1.Condition{data}
	if got := s.desiredStatus(true, ""); meta.FindStatusCondition(got.Conditions, data.Type) != nil {
		t.Errorf("before a cell has reported: %+v", got.Conditions)
	}
	// A cell's report of the condition is not copied to the project either.
	s.copied.Status.Conditions = []metav1.Condition{data, available}
	if got := s.desiredStatus(true, ""); len(got.Conditions) != 1 || got.Conditions[0].Type != available.Type {
		t.Errorf("after a cell has reported: %+v", got.Conditions)
	}
	if len(s.deployment.Status.Conditions) != 1 || len(s.copied.Status.Conditions) != 2 {
		t.Error("what was read was changed")
	}
}
