// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// catalogue holds the present instance types, and the types of the last answer.
type catalogue struct {
	now   []v1alpha.InstanceType
	known []v1alpha.InstanceType
	err   error
}

// typeGrace is how long after its deprecation a type may be named by new Workloads.
const typeGrace = 60 * 24 * time.Hour

// set creates or changes a type.
func (t *catalogue) set(name, cpu string, phase v1alpha.InstanceTypePhase) {
	t.remove(name)
	t.now = append(t.now, v1alpha.InstanceType{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha.InstanceTypeSpec{
		Resources: sizeOf(cpu), Lifecycle: v1alpha.InstanceTypeLifecycle{Phase: phase, ReplacementInstanceType: "newer"},
	}})
	t.known = t.now
}

func (t *catalogue) remove(name string) {
	var left []v1alpha.InstanceType
	for _, kind := range t.now {
		if kind.Name != name {
			left = append(left, kind)
		}
	}
	t.now, t.known = left, left
}

func sizeOf(cpu string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("1Gi")}
}

// typed returns a fixture with type datumcloud-d1-standard-2, of 1 CPU, which its Workload names by its other spelling.
func typed(t *testing.T, cities string) (*fixture, *catalogue) {
	t.Helper()
	f, known := newFixture(t, cities), &catalogue{}
	known.set("datumcloud-d1-standard-2", "1", v1alpha.InstanceTypeActive)
	f.types = known
	return f, known
}

func (f *fixture) wantSize(t *testing.T, deployment, cpu string) {
	t.Helper()
	want := corev1.ResourceList(nil)
	if cpu != "" {
		want = sizeOf(cpu)
	}
	if got := f.readDeployment(t, deployment).Spec.InstanceTypeResources; !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("deployment %s has recorded %v, want %v", deployment, got, want)
	}
}

func (f *fixture) name(t *testing.T, kind string) {
	t.Helper()
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Template.Spec.Runtime.Resources.InstanceType = kind })
}

// TestASizeIsRecorded: the size remains while the Workload names the same type, even if the type changes, also in
// deployments that are created later.
func TestASizeIsRecorded(t *testing.T) {
	t.Parallel()
	f, known := typed(t, "DFW ORD")
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "1")

	known.set("datumcloud-d1-standard-2", "2", v1alpha.InstanceTypeActive)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when the type changes, it writes %v", writes)
	}
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"DFW", "ORD"} })
	f.mustReconcile(t)
	f.wantSize(t, "web-main-ord", "1")
	f.name(t, "datumcloud-d1-standard-2")
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "1")

	known.remove("datumcloud-d1-standard-2")
	known.set("big", "8", v1alpha.InstanceTypeActive)
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "1")
	f.name(t, "big")
	f.mustReconcile(t)
	// ORD follows when DFW has the type.
	f.cell().settle(t)
	f.wantSize(t, "web-main-dfw", "8")
	f.wantSize(t, "web-main-ord", "8")
}

// TestASizeIsRecordedLater: a deployment from before sizes were recorded remains, even if its type is unknown.
func TestASizeIsRecordedLater(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "")
	known := &catalogue{}
	f.types = known
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "")
	known.set("datumcloud-d1-standard-2", "1", v1alpha.InstanceTypeActive)
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "1")
}

// TestATypeThatDoesNotExist: no Instance starts without a size, and running ones keep their template until another type
// is named.
func TestATypeThatDoesNotExist(t *testing.T) {
	t.Parallel()
	f, known := typed(t, "DFW")
	known.remove("datumcloud-d1-standard-2")
	known.set("other", "4", v1alpha.InstanceTypeActive)
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	if got := f.names(t); got != "" {
		t.Errorf("deployments are %s", got)
	}
	available := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionAvailable)
	if available.Reason != v1alpha.ReasonInstanceTypeNotFound ||
		!strings.Contains(available.Message, "datumcloud-d1-standard-2 does not exist; there are other") {
		t.Errorf("got %+v", available)
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
	// A type that was just created.
	f.name(t, "new")
	old := known.known
	known.set("new", "3", v1alpha.InstanceTypeActive)
	known.known = old
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "3")

	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Spec.Template = simulated.Template("registry.example/app:2")
		w.Spec.Template.Spec.Runtime.Resources.InstanceType = "gone"
		w.Spec.Placements[0].ScaleSettings.MinReplicas = 5
	})
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "3")
	got := f.readDeployment(t, "web-main-dfw")
	if got.Spec.Template.Spec.Runtime.Resources.InstanceType != "new" || got.Spec.ScaleSettings.MinReplicas != 5 {
		t.Errorf("spec %+v", got.Spec)
	}
}

func TestTheDefaultType(t *testing.T) {
	t.Parallel()
	f, known := typed(t, "DFW")
	known.set("small", "1", v1alpha.InstanceTypeActive)
	f.defaultType = "gone"
	f.workload(t, "main DFW")
	f.name(t, "")
	f.mustReconcile(t)
	if got := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions,
		v1alpha.ConditionAvailable); got.Reason != v1alpha.ReasonDefaultInstanceTypeNotFound ||
		!strings.Contains(got.Message, "default gone does not exist") {
		t.Errorf("got %+v", got)
	}
	f.defaultType = "small"
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "1")
	known.set("large", "9", v1alpha.InstanceTypeActive)
	f.defaultType = "large"
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "1")
}

// TestTheHubDoesNotAnswer: only deployments without a size wait for the hub, and if types are not served, none waits.
func TestTheHubDoesNotAnswer(t *testing.T) {
	t.Parallel()
	f, known := typed(t, "DFW ORD")
	away := errors.New("the hub does not answer")
	known.known, known.err = nil, away
	f.workload(t, "main DFW")
	if err := f.reconcile(t); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
	known.known, known.err = known.now, nil
	f.mustReconcile(t)
	known.known, known.err = nil, away
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"DFW", "ORD"} })
	f.mustReconcile(t)
	f.wantSize(t, "web-main-ord", "1")

	g, unserved := typed(t, "DFW")
	unserved.known, unserved.err = nil, instancetypes.ErrNotServed
	g.workload(t, "main DFW")
	g.mustReconcile(t)
	g.wantSize(t, "web-main-dfw", "")
}

func TestTheLifeOfAType(t *testing.T) {
	t.Parallel()
	f, known := typed(t, "DFW")
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	if conditions := f.readWorkload(t).Status.Conditions; len(conditions) != 4 {
		t.Errorf("conditions %+v", conditions)
	}
	for _, step := range []struct {
		change       func()
		name, reason string
		message      string
		gone         string
	}{
		{
			func() { known.set("datumcloud-d1-standard-2", "1", v1alpha.InstanceTypeDeprecated) },
			v1alpha.ConditionInstanceTypeDeprecated, v1alpha.ReasonInstanceTypeDeprecated, "is deprecated; use newer", "",
		},
		{
			func() {
				known.now[0].Status.DeprecatedAt = new(metav1.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC))
				known.known = known.now
			},
			v1alpha.ConditionInstanceTypeDeprecated, v1alpha.ReasonInstanceTypeDeprecated,
			"is deprecated since 2026-01-01, and new Workloads are refused it from 2026-03-02; use newer", "",
		},
		{
			func() { known.set("datumcloud-d1-standard-2", "1", v1alpha.InstanceTypeDisabled) },
			v1alpha.ConditionInstanceTypeDisabled, v1alpha.ReasonInstanceTypeDisabled, "no more Instances", v1alpha.ConditionInstanceTypeDeprecated,
		},
		{
			func() { known.remove("datumcloud-d1-standard-2") },
			v1alpha.ConditionInstanceTypeDisabled, v1alpha.ReasonInstanceTypeNotFound, "what runs stays", v1alpha.ConditionInstanceTypeDeprecated,
		},
	} {
		step.change()
		f.mustReconcile(t)
		conditions := f.readWorkload(t).Status.Conditions
		got := meta.FindStatusCondition(conditions, step.name)
		if got == nil || got.Status != metav1.ConditionTrue || got.Reason != step.reason || !strings.Contains(got.Message, step.message) {
			t.Errorf("%s is %+v, want %s", step.name, got, step.reason)
		}
		if step.gone != "" && meta.IsStatusConditionTrue(conditions, step.gone) {
			t.Errorf("%s is still True", step.gone)
		}
		if writes := f.mustReconcile(t); len(writes) > 0 {
			t.Errorf("when nothing has changed, it writes %v", writes)
		}
	}
	if got := f.names(t); got != "web-main-dfw" {
		t.Errorf("deployments are %s", got)
	}
	// A warning for each of them.
	known.set("datumcloud-d1-standard-2", "1", v1alpha.InstanceTypeDeprecated)
	if writes := f.mustReconcile(t); len(writes) != 1 || !slices.Equal(f.told(), []string{v1alpha.ReasonInstanceTypeDeprecated}) {
		t.Errorf("writes %v, Events %v", writes, f.told())
	}
}

// TestADisabledTypeStartsNothing: admission may have admitted the Workload before it knew that the type is disabled.
// Running Instances remain.
func TestADisabledTypeStartsNothing(t *testing.T) {
	t.Parallel()
	f, known := typed(t, "DFW ORD")
	before := known.now
	known.set("datumcloud-d1-standard-2", "1", v1alpha.InstanceTypeDisabled)
	known.known = before
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	if got := f.names(t); got != "" {
		t.Errorf("deployments %s were made of a disabled type", got)
	}
	available := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionAvailable)
	if available == nil || available.Reason != v1alpha.ReasonInstanceTypeDisabled ||
		!strings.Contains(available.Message, "is disabled; use newer") {
		t.Errorf("condition Available is %+v", available)
	}

	known.now = before
	f.mustReconcile(t)
	f.wantSize(t, "web-main-dfw", "1")
	known.set("datumcloud-d1-standard-2", "1", v1alpha.InstanceTypeDisabled)
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"DFW", "ORD"} })
	f.mustReconcile(t)
	f.wantSize(t, "web-main-ord", "1")

	known.set("small", "1", v1alpha.InstanceTypeDisabled)
	f.name(t, "small")
	f.mustReconcile(t)
	if got := f.readDeployment(t,
		"web-main-dfw").Spec.Template.Spec.Runtime.Resources.InstanceType; v1alpha.InstanceTypeName(got) != "datumcloud-d1-standard-2" {
		t.Errorf("the deployment has begun to name %s, which is disabled", got)
	}
}
