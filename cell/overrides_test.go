// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// sent writes about a deployment what the hub has sent.
func sent(t *testing.T, d *v1alpha.WorkloadDeployment) {
	t.Helper()
	value, err := templates.Intended(&d.Spec)
	if err != nil {
		t.Fatal(err)
	}
	d.Annotations = map[string]string{v1alpha.AnnotationIntended: value}
}

// mirror is an override of the image of the deployment's template alone, as policies name one path.
func mirror(registry string) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		app := &d.Spec.Template.Spec.Runtime.Sandbox.Containers[0]
		_, name, _ := strings.Cut(app.Image, "/")
		app.Image = registry + "/" + name
	}
}

// send changes the deployment as the hub does, and then as an override policy of the cell does.
func (f *fixture) send(change func(*v1alpha.WorkloadDeployment), overrides ...func(*v1alpha.WorkloadDeployment)) {
	f.t.Helper()
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
		change(d)
		sent(f.t, d)
		for _, override := range overrides {
			override(d)
		}
	})
}

// image returns the image of an Instance.
func (f *fixture) image(name string) string {
	f.t.Helper()
	return f.storedInstance(name).Spec.Runtime.Sandbox.Containers[0].Image
}

// restarted lets the Pod of an Instance that was replaced in place end, and its next one be Ready.
func (f *fixture) restarted(name string) {
	f.t.Helper()
	f.reconcile(f.runtime(), name)
	if pod := f.storedPod(name); pod != nil && pod.Labels[v1alpha.LabelTemplateHash] != f.storedInstance(name).TemplateHash() {
		f.remove(pod)
		f.reconcile(f.runtime(), name)
	}
	f.setPod(f.storedPod(name), readyAt(now.Add(-time.Minute)))
	f.reconcile(f.runtime(), name)
}

// wantSent reports, and compares the template and the Instances that have it.
func (f *fixture) wantSent(hash, current string) {
	f.t.Helper()
	f.rollUp()
	status := f.storedDeployment().Status
	if got := status.Indices[0]; got.TemplateHash != hash || got.Current != current {
		f.t.Errorf("reported are %+v; want template %s in %q", got, hash, current)
	}
	for _, reported := range wire.Instances(f.storedDeployment()) {
		if strings.Contains(reported.TemplateHash+reported.ObservedTemplateHash, "-") {
			f.t.Errorf("the hub does not know the template of %+v", reported)
		}
	}
}

// hashes returns the hashes of the template of the tests, and of the next one.
func hashes(t *testing.T) (first, second string) {
	t.Helper()
	d := &v1alpha.WorkloadDeployment{Spec: v1alpha.WorkloadDeploymentSpec{Template: template()}}
	first, err := templates.Hash(&d.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	newImage(d)
	second, err = templates.Hash(&d.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	return first, second
}

// runsTwo creates a deployment of which two Instances run.
func (f *fixture) runsTwo() {
	f.t.Helper()
	deployment := f.deployment(2, halfAtOnce, func(d *v1alpha.WorkloadDeployment) { sent(f.t, d) })
	for index := range 2 {
		f.running(deployment, index)
	}
	f.onNode("node", "web-0", "web-1")
}

func unchanged(*v1alpha.WorkloadDeployment) {}

// TestOverriddenImage: an override that is added, changed or removed rolls out in the cell within its limits. The hub
// hears of the template that it has sent, before and after a change of that.
func TestOverriddenImage(t *testing.T) {
	f := newFixture(t)
	first, second := hashes(t)
	f.runsTwo()
	f.wantSent(first, "0-1")

	for _, step := range []struct {
		change    func(*v1alpha.WorkloadDeployment)
		overrides []func(*v1alpha.WorkloadDeployment)
		image     string
		hash      string
	}{
		{unchanged, []func(*v1alpha.WorkloadDeployment){mirror("fra.example.com")}, "fra.example.com/app", first},
		{newImage, []func(*v1alpha.WorkloadDeployment){mirror("fra.example.com")}, "fra.example.com/new", second},
		{newImage, []func(*v1alpha.WorkloadDeployment){mirror("other.example.com")}, "other.example.com/new", second},
		{newImage, nil, "example.com/new", second},
	} {
		f.send(func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Template = template()
			step.change(d)
		}, step.overrides...)
		f.reconcile(f.deployments(), "web")
		if got := f.replaced(); !slices.Equal(got, []string{"web-1"}) {
			t.Fatalf("%v are replaced by %s at once", got, step.image)
		}
		f.restarted("web-1")
		f.reconcile(f.deployments(), "web")
		f.restarted("web-0")
		f.reconcile(f.deployments(), "web")
		for _, name := range []string{"web-0", "web-1"} {
			if got := f.image(name); got != step.image {
				t.Errorf("%s runs %s, want %s", name, got, step.image)
			}
		}
		f.wantSent(step.hash, "0-1")
		if progressing := meta.FindStatusCondition(f.storedDeployment().Status.Conditions,
			v1alpha.ConditionProgressing); progressing.Status != metav1.ConditionFalse {
			t.Errorf("with %s the deployment is %+v", step.image, progressing)
		}
	}
}

// TestOverriddenDuringARollout: while the cell replaces Instances for an override, they count as Instances of the
// template that the hub has sent, and Instances of an earlier one do not.
func TestOverriddenDuringARollout(t *testing.T) {
	f := newFixture(t)
	first, second := hashes(t)
	f.runsTwo()
	f.send(unchanged, mirror("fra.example.com"))
	f.reconcile(f.deployments(), "web")
	f.wantSent(first, "0-1")
	f.send(newImage, mirror("fra.example.com"))
	f.wantSent(second, "")
	f.restarted("web-1")
	f.reconcile(f.deployments(), "web")
	f.wantSent(second, "1")
}

// TestPinnedByAnOverride: a cell whose override leaves Instances the template that they have replaces none, and reports
// them as Instances of the template that the hub has sent.
func TestPinnedByAnOverride(t *testing.T) {
	f := newFixture(t)
	_, second := hashes(t)
	deployment := f.deployment(2, halfAtOnce, func(d *v1alpha.WorkloadDeployment) { sent(t, d) })
	for index := range 2 {
		f.running(deployment, index)
	}
	f.send(newImage, func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = template() })
	f.reconcile(f.deployments(), "web")
	if got := f.replaced(); len(got) > 0 {
		t.Errorf("%v are replaced", got)
	}
	f.wantSent(second, "0-1")
}

// TestOverriddenBelowThePartition: a policy names the path of the deployment's template. Instances below the partition
// of a rollout keep what the override made of the earlier template, also the ones that are created.
func TestOverriddenBelowThePartition(t *testing.T) {
	f := newFixture(t)
	first, second := hashes(t)
	f.deployment(3, halfAtOnce, func(d *v1alpha.WorkloadDeployment) {
		sent(t, d)
		mirror("fra.example.com")(d)
	})
	f.reconcile(f.deployments(), "web")
	names := []string{"web-0", "web-1", "web-2"}
	for _, name := range names {
		f.restarted(name)
	}
	f.onNode("node", names...)
	f.send(func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template = template()
		d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: 2, Template: template()}
		newImage(d)
	}, mirror("fra.example.com"))
	f.reconcile(f.deployments(), "web")
	f.restarted("web-2")
	f.wantSent(second, "2")

	f.remove(f.storedInstance("web-0"))
	f.setPod(f.storedPod("web-1"), corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
	})
	f.clock.SetTime(now.AddDate(0, 0, 1))
	f.reconcile(f.runtime(), "web-1")
	f.reconcile(f.deployments(), "web")
	for name, want := range map[string]string{
		"web-0": "fra.example.com/app", "web-1": "fra.example.com/app", "web-2": "fra.example.com/new",
	} {
		if got := f.image(name); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
	if got := f.replaced(); len(got) > 0 {
		t.Errorf("%v are replaced", got)
	}
	f.wantSent(second, "2")
	if got := wire.Instances(f.storedDeployment())[0].TemplateHash; got != first {
		t.Errorf("web-0 is reported with template %s, want %s", got, first)
	}
}

// TestFieldsOverridden: an override of a field that the hub counts on is refused by name, whatever it is. Pods keep
// running, and no Instance is created, deleted or let start.
func TestFieldsOverridden(t *testing.T) {
	for name, c := range map[string]struct {
		field    string
		override func(*v1alpha.WorkloadDeployment)
	}{
		"more Instances": {"scaleSettings", func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 3 }},
		"another index": {"assignment", func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{{
				Name: "other", Indices: naming.Ranges([]int{0, 1}),
			}}}
		}},
		"a lower floor": {"floor", func(d *v1alpha.WorkloadDeployment) { d.Spec.Floor.MinAvailable = 0 }},
		"all at once":   {"rollout", func(d *v1alpha.WorkloadDeployment) { d.Spec.Rollout = nil }},
		"suspended":     {"suspended", func(d *v1alpha.WorkloadDeployment) { d.Spec.Suspended = true }},
		"granted":       {"quota", func(d *v1alpha.WorkloadDeployment) { d.Spec.Quota.Granted = naming.Ranges([]int{0, 1, 2}) }},
		"another owner": {"workloadRef", func(d *v1alpha.WorkloadDeployment) { d.Spec.WorkloadRef.UID = "other" }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			deployment := f.deployment(2, halfAtOnce, granted(0), func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Floor = &v1alpha.AvailabilityFloor{MinAvailable: 1, Sequence: 1}
				sent(t, d)
				quota, err := templates.IntendedQuota(d.Spec.Quota)
				if err != nil {
					t.Fatal(err)
				}
				d.Annotations[v1alpha.AnnotationIntendedQuota] = quota
			})
			f.running(deployment, 0)
			f.instance(deployment, 1, gated(v1alpha.GateQuota))
			f.rollUp()
			if condition := meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionSpecReceived); condition != nil {
				t.Fatalf("without an override the condition is %+v", condition)
			}
			f.changeDeployment(c.override)
			f.reconcile(f.deployments(), "web")
			f.reconcile(f.runtime(), "web-0")
			f.reconcile(f.runtime(), "web-1")
			f.wantInstances([]string{"web-0", "web-1"}, nil)
			f.wantGates("web-1", v1alpha.GateQuota)
			if pod := f.storedPod("web-0"); pod == nil || !pod.DeletionTimestamp.IsZero() {
				t.Error("what runs is stopped")
			}
			f.rollUp()
			condition := meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionSpecReceived)
			if condition == nil || condition.Reason != v1alpha.ReasonFieldsOverridden ||
				!strings.Contains(condition.Message, "spec."+c.field+" of") || !strings.Contains(condition.Message, "OverridePolicy") {
				t.Errorf("the condition is %+v", condition)
			}
		})
	}
}

// TestResourcesOverridden: resources, labels, arguments and environment of the template are the operator's to override.
func TestResourcesOverridden(t *testing.T) {
	f := newFixture(t)
	first, _ := hashes(t)
	f.deployment(1, parallel, func(d *v1alpha.WorkloadDeployment) {
		sent(t, d)
		app := &d.Spec.Template.Spec.Runtime.Sandbox.Containers[0]
		app.Args, app.Env = []string{"--region=fra"}, []corev1.EnvVar{{Name: "REGION", Value: "fra"}}
		app.Resources = &v1alpha.ContainerResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: quantity("64Mi")}}
		d.Spec.Template.Labels = map[string]string{"region": "fra"}
	})
	f.reconcile(f.deployments(), "web")
	f.reconcile(f.runtime(), "web-0")
	pod := f.storedPod("web-0")
	if pod == nil || pod.Labels["region"] != "fra" || !slices.Equal(pod.Spec.Containers[0].Args, []string{"--region=fra"}) ||
		pod.Spec.Containers[0].Env[0].Value != "fra" || pod.Spec.Containers[0].Resources.Limits.Memory().String() != "64Mi" {
		t.Errorf("the Pod is %+v", pod)
	}
	f.wantSent(first, "0")
}
