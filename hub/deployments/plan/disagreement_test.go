// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// TestTheNotationOfAQuantityIsNoRollout: a template with the same amount of memory in another notation has the same
// meaning.
func TestTheNotationOfAQuantityIsNoRollout(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	c := f.cell()
	inMemory := func(memory string) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Resources = &v1alpha.ContainerResourceRequirements{
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
			}
		}
	}
	workload := f.workload(t, "main DFW ORD")
	change(t, f, workload, inMemory("33554432"))
	f.mustReconcile(t)
	c.run(t)
	f.mustReconcile(t)
	before := *f.readWorkload(t).Status.Rollout
	change(t, f, workload, inMemory("32Mi"))
	for range 3 {
		f.mustReconcile(t)
		c.run(t)
	}
	if after := f.readWorkload(t).Status.Rollout; before.Phase != v1alpha.RolloutComplete || *after != before {
		t.Errorf("the rollout is %+v, before %+v", after, before)
	}
	for _, name := range []string{"web-main-dfw", "web-main-ord"} {
		if got := f.readDeployment(t, name); got.Spec.Partition != nil || got.Status.ObservedGeneration != got.Generation {
			t.Errorf("%s: %+v", name, got.Spec.Partition)
		}
	}
}

// TestADefaultIsNoRollout: no deployment and no revision follows when a default is written, and a deployment that
// changes for another reason keeps the text of its template.
func TestADefaultIsNoRollout(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	c := f.cell()
	workload := f.workload(t, "main DFW")
	change(t, f, workload, func(w *v1alpha.Workload) {
		w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Ports = []v1alpha.NamedPort{{Name: "http", Port: 80}}
	})
	c.settle(t)
	before, rollout := f.readDeployment(t, "web-main-dfw"), *f.readWorkload(t).Status.Rollout
	change(t, f, workload, func(w *v1alpha.Workload) {
		sandbox := w.Spec.Template.Spec.Runtime.Sandbox
		sandbox.TerminationGracePeriodSeconds = new(int64(30))
		sandbox.Containers[0].Ports[0].Protocol = new(corev1.ProtocolTCP)
		sandbox.Containers[0].SecurityContext = &v1alpha.ContainerSecurityContext{}
		w.Spec.Template.Spec.NetworkInterfaces[0].Name = v1alpha.InterfaceName
	})
	c.settle(t)
	after := f.readDeployment(t, "web-main-dfw")
	if now := *f.readWorkload(t).Status.Rollout; after.Generation != before.Generation || now != rollout ||
		rollout.Phase != v1alpha.RolloutComplete {
		t.Errorf("the deployment has generation %d, before %d; the rollout is %+v, before %+v", after.Generation, before.Generation, now, rollout)
	}
	change(t, f, workload, func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = 3 })
	c.settle(t)
	after = f.readDeployment(t, "web-main-dfw")
	if after.Spec.ScaleSettings.MinReplicas != 3 || !equality.Semantic.DeepEqual(after.Spec.Template, before.Spec.Template) {
		t.Errorf("the deployment has %d replicas of %+v", after.Spec.ScaleSettings.MinReplicas, after.Spec.Template)
	}
	if got := f.revisions(t); len(got) != 1 {
		t.Errorf("the revisions are %v", got)
	}
}

// TestADisagreementMeetsTheDeadline: the cells report that all is settled, with a template that the hub does not know.
// No deployment waits for anything: the deadline of the Workload finds the rollout that does not end, once.
func TestADisagreementMeetsTheDeadline(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	c := f.cell()
	workload := f.workload(t, "main DFW ORD")
	f.mustReconcile(t)
	c.run(t)
	f.mustReconcile(t)
	change(t, f, workload, func(w *v1alpha.Workload) {
		w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "example.com/new"
	})
	for range 10 {
		f.mustReconcile(t)
		c.run(t)
		for _, name := range []string{"web-main-dfw", "web-main-ord"} {
			changeStatus(t, f, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
				d.Status.Conditions = []metav1.Condition{{
					Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonSettled,
					LastTransitionTime: metav1.NewTime(testBegin),
				}}
				d.Status.Indices[0].TemplateHash = "disagrees"
			})
		}
	}
	progressing := func() *metav1.Condition {
		return meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionProgressing)
	}
	f.mustReconcile(t)
	if got := progressing(); got.Reason != v1alpha.ReasonRollingOut || f.readWorkload(t).Status.Rollout.Phase != v1alpha.RolloutProgressing {
		t.Errorf("before the deadline: %+v, %+v", got, f.readWorkload(t).Status.Rollout)
	}
	after, err := f.once(t)
	if err != nil || after <= 0 {
		t.Fatalf("it is not requeued for its deadline: %s, %v", after, err)
	}
	f.clock.SetTime(f.clock.Now().Add(after))
	f.mustReconcile(t)
	if got := progressing(); got.Reason != v1alpha.ReasonProgressDeadlineExceeded ||
		f.readWorkload(t).Status.Rollout.Phase != v1alpha.RolloutFailed {
		t.Errorf("at the deadline: %+v, %+v", got, f.readWorkload(t).Status.Rollout)
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
}

// TestADrainIsNoRollout: an Instance that ceases to be Available while no rollout is in progress blocks none.
func TestADrainIsNoRollout(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	c := f.cell()
	workload := f.workload(t, "main DFW")
	f.mustReconcile(t)
	c.run(t)
	f.mustReconcile(t)
	for _, name := range []string{"web-main-dfw-0", "web-main-dfw-1"} {
		instance := create(t, f, &v1alpha.Instance{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: *workload.Spec.Template.Spec.DeepCopy(),
		})
		changeStatus(t, f, instance, func(i *v1alpha.Instance) {
			i.Status.Conditions = []metav1.Condition{{
				Type: v1alpha.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonImageUnavailable, Message: "the image is gone",
				LastTransitionTime: metav1.NewTime(testBegin),
			}}
		})
	}
	c.Broken = []string{simulated.Hash(t, &workload.Spec.Template)}
	c.run(t)
	f.mustReconcile(t)
	status := f.readWorkload(t).Status
	if got := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionDegraded); got.Status != metav1.ConditionFalse ||
		status.Rollout.Phase != v1alpha.RolloutComplete {
		t.Errorf("Degraded is %+v, the rollout is %s", got, status.Rollout.Phase)
	}
	change(t, f, workload, func(w *v1alpha.Workload) {
		w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "example.com/new"
	})
	for range 4 {
		f.mustReconcile(t)
		c.Broken = append(c.Broken, simulated.Hash(t, &f.readWorkload(t).Spec.Template))
		c.run(t)
	}
	f.mustReconcile(t)
	if status := f.readWorkload(t).Status; !meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionDegraded) {
		t.Errorf("the rollout of a broken template is not blocked: %+v", status.Conditions)
	}
}
