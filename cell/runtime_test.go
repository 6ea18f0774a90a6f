// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

func (f *fixture) runtime() *runtime.Reconciler {
	return &runtime.Reconciler{Client: f.cached, APIReader: f.direct, Strays: f.strays(), Recorder: f.recorder, Clock: f.clock}
}

// pod creates the Pod of an Instance by hand.
func (f *fixture) pod(instance *v1alpha.Instance, changes ...func(*corev1.Pod)) *corev1.Pod {
	f.t.Helper()
	labels := maps.Clone(instance.Labels)
	labels[v1alpha.LabelTemplateHash] = instance.TemplateHash()
	for _, at := range instance.Spec.NetworkInterfaces {
		labels[v1alpha.LabelNetwork] = naming.NetworkLabel(f.namespace, at.Network.Name)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.namespace, Name: instance.Name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{instance.ControllerReference()},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "example.com/app"}}},
	}
	for _, change := range changes {
		change(pod)
	}
	f.create(pod)
	return pod
}

// setPod writes the status of a Pod, as a kubelet does.
func (f *fixture) setPod(pod *corev1.Pod, status corev1.PodStatus) *corev1.Pod {
	f.t.Helper()
	pod.Status = status
	if err := f.direct.Status().Update(f.t.Context(), pod); err != nil {
		f.t.Fatal(err)
	}
	return pod
}

func readyPod(ip string) corev1.PodStatus {
	return corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
}

// storedPod is the Pod of a name, or nil.
func (f *fixture) storedPod(name string) *corev1.Pod {
	f.t.Helper()
	pod := &corev1.Pod{}
	err := f.direct.Get(f.t.Context(), client.ObjectKey{Namespace: f.namespace, Name: name}, pod)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return pod
}

// wantReady wants a reason of Ready, with a "-" before it when Ready is not True.
func (f *fixture) wantReady(instance, reason string) {
	f.t.Helper()
	if got := reasons(f.storedInstance(instance).Status.Conditions)[v1alpha.ConditionReady]; got != reason {
		f.t.Errorf("Ready is %q, want %q", got, reason)
	}
}

func TestRuntimeReconcile(t *testing.T) {
	tests := map[string]struct {
		given       func(*fixture)
		wantPod     bool
		wantReady   string
		wantEvent   string
		wantRequeue time.Duration
	}{
		"a Pod is created": {
			given:   func(f *fixture) { f.instance(f.deployment(1), 0) },
			wantPod: true, wantReady: "-" + v1alpha.ReasonProvisioning,
		},
		"no Pod is created behind a gate": {
			given:     func(f *fixture) { f.instance(f.deployment(1, network(false)), 0, gated("Network")) },
			wantReady: "-" + v1alpha.ReasonSchedulingGatesPresent,
		},
		"no Pod is created for an Instance that is being deleted": {
			given: func(f *fixture) {
				f.beginDeletion(f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) { i.Finalizers = []string{"example.com/held"} }))
			},
			wantReady: "-" + v1alpha.ReasonProvisioning,
		},
		"a virtual machine is not run": {
			given: func(f *fixture) {
				f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) {
					i.Spec.Runtime.Sandbox = nil
					i.Spec.Runtime.VirtualMachine = &v1alpha.VirtualMachineRuntime{VolumeAttachments: []v1alpha.VolumeAttachment{{Name: "boot"}}}
				})
			},
			wantReady: "-" + v1alpha.ReasonConfigurationError, wantEvent: "Warning ConfigurationError this cell runs sandboxes only",
		},
		"a class that the cell does not serve is said": {
			given: func(f *fixture) {
				f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) { i.Spec.Runtime.Class = "isolated" })
			},
			wantReady: "-" + v1alpha.ReasonRuntimeClassNotServed,
			wantEvent: "Warning RuntimeClassNotServed this cell does not serve spec.runtime.class",
		},
		"an invalid Pod is reported and not tried again": {
			given: func(f *fixture) {
				f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) { i.Spec.Runtime.Sandbox.Containers[0].Image = " " })
			},
			wantReady: "-" + v1alpha.ReasonConfigurationError, wantEvent: "Warning ConfigurationError the cell refuses the Pod",
		},
		"a forbidden Pod is reported and tried again": {
			given: func(f *fixture) {
				f.forbid("pods")
				f.instance(f.deployment(1), 0)
			},
			wantReady: "-" + v1alpha.ReasonCellQuotaExceeded, wantEvent: "Warning CellQuotaExceeded the cell refuses the Pod",
			wantRequeue: 30 * time.Second,
		},
		"a namespace that is being deleted is not reported": {
			given: func(f *fixture) {
				f.instance(f.deployment(1), 0)
				f.deleteNamespace()
			},
			wantReady: "-" + v1alpha.ReasonProvisioning,
		},
		"a ready Pod makes its Instance Ready": {
			given:   func(f *fixture) { f.setPod(f.pod(f.instance(f.deployment(1), 0)), readyPod("10.0.0.1")) },
			wantPod: true, wantReady: v1alpha.ReasonAvailable,
		},
		"the Pod of an earlier Instance of the name, which is gone, is deleted": {
			given: func(f *fixture) {
				deployment := f.deployment(1)
				earlier := f.instance(deployment, 0)
				f.setPod(f.pod(earlier), readyPod("10.0.0.1"))
				f.remove(earlier)
				f.instance(deployment, 0)
			},
			wantReady: "-" + v1alpha.ReasonProvisioning, wantRequeue: time.Second,
			wantEvent: "Warning ControllerGone deleted: its controller, Instance web-0",
		},
		"the Pod of an earlier Instance of the name that is being deleted is waited for": {
			given: func(f *fixture) {
				deployment := f.deployment(1)
				earlier := f.instance(deployment, 0)
				f.beginDeletion(f.pod(earlier, func(p *corev1.Pod) { p.Finalizers = []string{"example.com/held"} }))
				f.remove(earlier)
				f.instance(deployment, 0)
			},
			wantPod: true, wantReady: "-" + v1alpha.ReasonProvisioning, wantRequeue: 10 * time.Second,
		},
		"the Pod of an earlier Instance that was orphaned is deleted": {
			given: func(f *fixture) {
				f.pod(f.instance(f.deployment(1), 0), func(p *corev1.Pod) { p.OwnerReferences = nil })
			},
			wantReady: "-" + v1alpha.ReasonProvisioning, wantRequeue: time.Second,
			wantEvent: "Warning ControllerGone deleted: its controller, Instance web-0",
		},
		"an Instance that no deployment controls does not start": {
			given: func(f *fixture) {
				f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) { i.OwnerReferences = nil })
			},
			wantReady: "-" + v1alpha.ReasonConfigurationError, wantEvent: "Warning ConfigurationError no WorkloadDeployment controls the Instance",
		},
		"the Pod of another Instance that has the name stays": {
			given: func(f *fixture) {
				deployment := f.deployment(1)
				other := f.instance(deployment, 1)
				f.pod(f.instance(deployment, 0), func(p *corev1.Pod) {
					p.OwnerReferences = []metav1.OwnerReference{other.ControllerReference()}
				})
			},
			wantPod: true, wantReady: "-" + v1alpha.ReasonConfigurationError, wantRequeue: 10 * time.Second,
			wantEvent: "Warning ConfigurationError a Pod web-0 exists that is not of this Instance",
		},
		"a Pod of somebody else that has the name is reported": {
			given: func(f *fixture) {
				f.pod(f.instance(f.deployment(1), 0), func(p *corev1.Pod) { p.OwnerReferences, p.Labels = nil, nil })
			},
			wantPod: true, wantReady: "-" + v1alpha.ReasonConfigurationError, wantRequeue: 10 * time.Second,
			wantEvent: "Warning ConfigurationError a Pod web-0 exists that is not of this Instance",
		},
		"a Pod of somebody else that is being deleted is waited for": {
			given: func(f *fixture) {
				f.beginDeletion(f.pod(f.instance(f.deployment(1), 0), func(p *corev1.Pod) {
					p.OwnerReferences, p.Labels, p.Finalizers = nil, nil, []string{"example.com/held"}
				}))
			},
			wantPod: true, wantReady: "-" + v1alpha.ReasonProvisioning, wantRequeue: 10 * time.Second,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			test.given(f)
			if result := f.reconcile(f.runtime(), "web-0"); result.RequeueAfter != test.wantRequeue {
				t.Errorf("requeued after %s", result.RequeueAfter)
			}
			if pod := f.storedPod("web-0"); (pod != nil) != test.wantPod {
				t.Errorf("Pod %+v", pod)
			}
			f.wantReady("web-0", test.wantReady)
			f.wantEvent(test.wantEvent)
		})
	}
}

func TestRuntimeIgnoresAnInstanceThatIsGone(t *testing.T) {
	f := newFixture(t)
	f.reconcile(f.runtime(), "web-0")
	if pod := f.storedPod("web-0"); pod != nil {
		t.Errorf("Pod %+v", pod)
	}
}

func TestRuntimeReplacesAFinishedPod(t *testing.T) {
	tests := map[string]struct {
		age         time.Duration
		phase       corev1.PodPhase
		deleting    bool
		wantPod     bool
		wantRequeue time.Duration
	}{
		"one that failed is deleted":                {age: 10 * time.Second, phase: corev1.PodFailed},
		"one that has ended well is deleted":        {age: 10 * time.Second, phase: corev1.PodSucceeded},
		"one that is young is deleted later":        {age: 4 * time.Second, phase: corev1.PodFailed, wantPod: true, wantRequeue: 6 * time.Second},
		"one that runs stays":                       {age: time.Hour, phase: corev1.PodRunning, wantPod: true},
		"one whose Instance is being deleted stays": {age: time.Hour, phase: corev1.PodFailed, deleting: true, wantPod: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			instance := f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) { i.Finalizers = []string{"example.com/held"} })
			pod := f.setPod(f.pod(instance), corev1.PodStatus{Phase: test.phase})
			if test.deleting {
				f.beginDeletion(instance)
			}
			f.clock.SetTime(pod.CreationTimestamp.Add(test.age))
			if result := f.reconcile(f.runtime(), "web-0"); result.RequeueAfter != test.wantRequeue {
				t.Errorf("requeued after %s", result.RequeueAfter)
			}
			if got := f.storedPod("web-0"); (got != nil) != test.wantPod {
				t.Errorf("Pod %+v", got)
			}
			if test.wantPod {
				return
			}
			f.reconcile(f.runtime(), "web-0")
			if got := f.storedPod("web-0"); got == nil || got.UID == pod.UID {
				t.Errorf("Pod %+v after the second reconcile", got)
			}
		})
	}
}

func TestRuntimeWritesOnlyWhatDiffers(t *testing.T) {
	f := newFixture(t)
	pod := f.setPod(f.pod(f.instance(f.deployment(1), 0)), readyPod("10.0.0.1"))
	f.reconcile(f.runtime(), "web-0")
	first := f.storedInstance("web-0")
	if ip := first.Status.NetworkInterfaces[0].Assignments.NetworkIP; ip == nil || *ip != "10.0.0.1" {
		t.Errorf("interfaces %+v", first.Status.NetworkInterfaces)
	}
	if hash := first.Status.Controller.ObservedTemplateHash; hash != first.TemplateHash() {
		t.Errorf("observed template %q of %q", hash, first.TemplateHash())
	}
	f.clock.SetTime(now.Add(time.Hour))
	settled := f.runtime()
	settled.Client = f.readOnly()
	f.reconcile(settled, "web-0")
	f.setPod(pod, corev1.PodStatus{Phase: corev1.PodRunning})
	f.reconcile(f.runtime(), "web-0")
	later := f.storedInstance("web-0")
	ready := meta.FindStatusCondition(later.Status.Conditions, v1alpha.ConditionReady)
	if ready.Status != metav1.ConditionFalse || !ready.LastTransitionTime.Time.Equal(now.Add(time.Hour)) ||
		ready.ObservedGeneration != later.Generation {
		t.Errorf("Ready %+v", ready)
	}
	if later.Status.NetworkInterfaces != nil {
		t.Errorf("an address that is gone is still there: %+v", later.Status.NetworkInterfaces)
	}
}

func TestRuntimeRecordsTroubleOnce(t *testing.T) {
	f := newFixture(t)
	pod := f.pod(f.instance(f.deployment(1), 0))
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	for _, step := range []struct {
		status    corev1.PodStatus
		wantEvent string
	}{
		{waiting("ErrImagePull", "not found"), "Warning ImageUnavailable container app"},
		{waiting("ErrImagePull", "no route to host"), ""},
		{waiting("CrashLoopBackOff", ""), ""},
		{waiting("CreateContainerConfigError", "no key"), "Warning ConfigurationError container app: no key"},
	} {
		pod = f.setPod(pod, step.status)
		f.reconcile(f.runtime(), "web-0")
		f.wantEvent(step.wantEvent)
	}
}

// TestSizeOfAPod: a Pod has the size that its Instance was created with, whatever the deployment has now.
func TestSizeOfAPod(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.InstanceTypeResources = corev1.ResourceList{corev1.ResourceCPU: quantity("2")}
	})
	f.instance(deployment, 0, func(i *v1alpha.Instance) {
		i.Spec.Controller.InstanceTypeResources = corev1.ResourceList{corev1.ResourceCPU: quantity("1")}
	})
	f.reconcile(f.runtime(), "web-0")
	if got := f.storedPod("web-0").Spec.Containers[0].Resources.Limits.Cpu().String(); got != "1" {
		t.Errorf("the Pod is limited to %s CPU", got)
	}
}

// TestPodsStartBehindAPolicy: the first Pod of a namespace is there after the policy that keeps others away.
func TestPodsStartBehindAPolicy(t *testing.T) {
	f := newFixture(t)
	f.forbid("pods")
	instance := f.instance(f.deployment(1), 0)
	f.reconcile(f.runtime(), instance.Name)
	if f.storedPod(instance.Name) != nil || len(f.policies()) != 1 {
		t.Errorf("policies %v", f.policies())
	}
}

// TestPodsAreSelected: a Pod is created with the labels by which network policies select it, whatever labels its
// template has.
func TestPodsAreSelected(t *testing.T) {
	f := newFixture(t)
	instance := f.instance(f.deployment(1, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Labels = map[string]string{v1alpha.LabelNetwork: "another", v1alpha.LabelTemplateHash: "another"}
	}), 0)
	f.reconcile(f.runtime(), instance.Name)
	labels := f.storedPod(instance.Name).Labels
	if hash, network := labels[v1alpha.LabelTemplateHash],
		labels[v1alpha.LabelNetwork]; hash != instance.TemplateHash() || network != f.namespace+".default" {
		t.Errorf("the Pod has the hash %q and the network %q", hash, network)
	}
}

// TestRuntimeWaitsForWhatLasts: a starting Instance is written once, as Ready, if it becomes Ready within a moment; an
// Instance that needs a user is written at once, and an Instance without a Pod or a node soon.
func TestRuntimeWaitsForWhatLasts(t *testing.T) {
	f := newFixture(t)
	r := f.runtime()
	r.Passing = pace.NewWrites[types.NamespacedName](f.clock)
	deployment := f.deployment(2)
	instance := f.instance(deployment, 0)
	wait := func(name string, want time.Duration) {
		t.Helper()
		if result := f.reconcile(r, name); result.RequeueAfter != want || len(f.storedInstance(name).Status.Conditions) != 0 {
			t.Errorf("requeued after %s, status %+v", result.RequeueAfter, f.storedInstance(name).Status)
		}
	}
	wait(instance.Name, 2*time.Second)
	noRoom := corev1.PodStatus{
		Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}},
	}
	f.setPod(f.storedPod(instance.Name), noRoom)
	wait(instance.Name, pace.Limit)
	wait(f.instance(deployment, 1, gated(v1alpha.GateNetwork), func(i *v1alpha.Instance) { i.OwnerReferences = nil }).Name, pace.Limit)
	f.setPod(f.storedPod(instance.Name), readyPod("10.0.0.1"))
	if result := f.reconcile(r, instance.Name); result.RequeueAfter != 0 ||
		!meta.IsStatusConditionTrue(f.storedInstance(instance.Name).Status.Conditions, v1alpha.ConditionReady) {
		t.Errorf("requeued after %s, status %+v", result.RequeueAfter, f.storedInstance(instance.Name).Status)
	}
}
