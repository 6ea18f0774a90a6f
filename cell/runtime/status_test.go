// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func pod(phase corev1.PodPhase, changes ...func(*corev1.Pod)) *corev1.Pod {
	result := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
	for _, change := range changes {
		change(result)
	}
	return result
}

func onNode(p *corev1.Pod) {
	p.Spec.NodeName = "node"
	p.Status.PodIP = "10.0.0.1"
}

func with(conditionType corev1.PodConditionType, status corev1.ConditionStatus, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: conditionType, Status: status, Message: message})
	}
}

func waiting(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses,
			corev1.ContainerStatus{Name: "ok", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}},
			corev1.ContainerStatus{
				Name: "app", Image: "nginx", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
			})
	}
}

func deletedPod(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} }

// isComplete reports whether a message does not end before the cause.
func isComplete(message string) bool { return !strings.HasSuffix(strings.TrimSpace(message), ":") }

func overduePod(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now.Add(-2 * time.Minute)} }

func TestDesiredStatus(t *testing.T) {
	gated := func(names ...string) func(*v1alpha.Instance) {
		return func(i *v1alpha.Instance) {
			for _, name := range names {
				i.Spec.Controller.SchedulingGates = append(i.Spec.Controller.SchedulingGates, v1alpha.SchedulingGate{Name: name})
			}
		}
	}
	ready := with(corev1.PodReady, corev1.ConditionTrue, "")
	notReady := with(corev1.PodReady, corev1.ConditionFalse, "containers with unready status: [app]")
	tests := map[string]struct {
		instance func(*v1alpha.Instance)
		pod      *corev1.Pod
		blocked  *finding
		// the wanted reasons; a reason of success sets the condition True.
		wantReady, wantAvailable, wantProgrammed string
		wantMessage                              string
	}{
		"the Quota gate": {
			gated("Network", "Quota"), nil, nil, "SchedulingGatesPresent", "Starting", "PendingQuota", "Network, Quota",
		},
		"quota that is withheld": {
			func(i *v1alpha.Instance) {
				gated("Quota")(i)
				i.Status.Conditions = []metav1.Condition{{
					Type: v1alpha.ConditionQuotaGranted, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonQuotaExceeded, Message: "0 of 4 are left",
				}}
			}, nil, nil, "SchedulingGatesPresent", "Starting", "PendingQuota", "waiting for scheduling gates: Quota; QuotaExceeded: 0 of 4 are left",
		},
		"another gate": {gated("Network"), nil, nil, "SchedulingGatesPresent", "Starting", "PendingProgramming", "Network"},
		"no Pod yet":   {nil, nil, nil, "Provisioning", "Starting", "ProgrammingInProgress", "being created"},
		"refused": {
			nil, nil, &finding{"ConfigurationError", "why"}, "ConfigurationError", "Starting", "ConfigurationError", "why",
		},
		"an earlier Pod": {nil, nil, &finding{"Provisioning", "waiting"}, "Provisioning", "Starting", "ProgrammingInProgress", "waiting"},
		"no node":        {nil, pod("Pending"), nil, "Provisioning", "Starting", "ProgrammingInProgress", "has no node yet"},
		"unschedulable": {
			nil, pod("Pending", with(corev1.PodScheduled, corev1.ConditionFalse, "0/2 nodes")), nil,
			"Unschedulable", "Starting", "ProgrammingInProgress", "no node for the Pod: 0/2 nodes",
		},
		"starting": {
			nil, pod("Pending", onNode, waiting("ContainerCreating", ""), notReady), nil, "Provisioning", "Starting",
			"Programmed", "unready status: [app]",
		},
		"serving": {nil, pod("Running", onNode, ready), nil, "Available", "Available", "Programmed", ""},
		"an image that is not there": {
			nil, pod("Pending", onNode, waiting("ErrImagePull", "not found"), notReady), nil,
			"ImageUnavailable", "Starting", "Programmed", "container app: image nginx cannot be pulled: not found",
		},
		"an image that is not there, said otherwise": {
			nil, pod("Pending", onNode, waiting("ImagePullBackOff", `Back-off pulling image "nginx": ErrImagePull: not found`), notReady), nil,
			"ImageUnavailable", "Starting", "Programmed", "container app: image nginx cannot be pulled: not found",
		},
		"an image name that is none": {
			nil, pod("Pending", onNode, waiting("InvalidImageName", "bad"), notReady), nil, "ImageUnavailable", "Starting", "Programmed", "bad",
		},
		"a missing ConfigMap": {
			nil, pod("Pending", onNode, waiting("CreateContainerConfigError", `configmap "c" not found`), notReady), nil,
			"ConfigurationError", "Starting", "Programmed", `container app: configmap "c" not found`,
		},
		"crashing": {
			nil, pod("Running", onNode, waiting("CrashLoopBackOff", "back-off 10s"), notReady), nil,
			"InstanceCrashing", "Starting", "Programmed", "back-off 10s",
		},
		"crashed before": {
			nil, pod("Running", onNode, waiting("CrashLoopBackOff", "back-off 10s"), func(p *corev1.Pod) {
				p.Status.ContainerStatuses[1].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}
			}), nil, "InstanceCrashing", "Starting", "Programmed", "container app ends with exit code 3 (Error)",
		},
		"just crashed": {
			nil, pod("Running", onNode, func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"},
				}}}
			}), nil, "OOMKilled", "Starting", "Programmed", "container app used more memory than the limit of its Pod and was killed",
		},
		"out of memory": {
			nil, pod("Running", onNode, notReady, waiting("CrashLoopBackOff", "back-off 10s"), func(p *corev1.Pod) {
				p.Spec.Containers = []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
					corev1.ResourceMemory: resource.MustParse("64Mi"),
				}}}}
				p.Status.ContainerStatuses[1].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
			}), nil, "OOMKilled", "Starting", "Programmed", "container app used more memory than its limit of 64Mi and was killed",
		},
		"evicted": {
			nil, pod("Failed", onNode, ready, func(p *corev1.Pod) {
				p.Status.Reason, p.Status.Message = "Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 10Mi."
			}), nil,
			"Evicted", "Stopped", "Programmed",
			"is being replaced: Evicted: Pod ephemeral local storage usage exceeds the total limit of containers 10Mi.",
		},
		"evicted, said in a condition": {
			nil, pod("Failed", onNode, func(p *corev1.Pod) {
				p.Status.Reason = "Evicted"
				p.Status.Conditions = []corev1.PodCondition{{
					Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet",
					Message: "The node was low on resource: memory.",
				}}
			}), nil, "Evicted", "Stopped", "Programmed", "is being replaced: Evicted: TerminationByKubelet: The node was low on resource: memory.",
		},
		"ended without a reason": {
			nil, pod("Succeeded", onNode, func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"},
				}}}
			}), nil, "Provisioning", "Stopped", "Programmed", "is being replaced: container app ends with exit code 0 (Completed)",
		},
		"ended, and that is all": {nil, pod("Failed", onNode), nil, "Provisioning", "Stopped", "Programmed", "is being replaced"},
		"on a node that does not report": {
			nil, pod("Running", onNode, with(corev1.PodReady, corev1.ConditionFalse, ""),
				with(corev1.ContainersReady, corev1.ConditionTrue, "")), nil,
			"NodeLost", "Starting", "Programmed", "node node does not report the state of the Pod",
		},
		"with a readiness gate": {
			nil, pod("Running", onNode, notReady, with(corev1.ContainersReady, corev1.ConditionTrue, ""), func(p *corev1.Pod) {
				p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/served"}}
			}), nil, "Provisioning", "Starting", "Programmed", "unready status",
		},
		"on a node that does not stop it": {
			nil, pod("Running", onNode, ready, overduePod), nil,
			"NodeLost", "Starting", "Programmed", "node node does not confirm that the Pod has stopped, which was due at 2025-12-31T23:58:00Z",
		},
		"held by a finalizer": {
			nil, pod("Running", onNode, ready, overduePod, func(p *corev1.Pod) { p.Finalizers = []string{"example.com/held"} }), nil,
			"Provisioning", "Starting", "Programmed", "being stopped",
		},
		"drained": {
			nil, pod("Running", onNode, ready, deletedPod, func(p *corev1.Pod) {
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
					Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
				})
			}), nil, "Provisioning", "Starting", "Programmed", "the Pod is being stopped: EvictionByEvictionAPI: Eviction API: evicting",
		},
		"an Instance being deleted on a lost node": {
			func(i *v1alpha.Instance) { i.DeletionTimestamp = &metav1.Time{Time: now} }, pod("Running", onNode, ready, overduePod), nil,
			"NodeLost", "Stopping", "Programmed", "the Instance is being deleted; node node does not confirm",
		},
		"a Pod being deleted": {nil, pod("Running", onNode, ready, deletedPod), nil, "Provisioning", "Starting", "Programmed", "being stopped"},
		"an Instance being deleted": {
			func(i *v1alpha.Instance) { i.DeletionTimestamp = &metav1.Time{Time: now} }, pod("Running", onNode, ready), nil,
			"Provisioning", "Stopping", "Programmed", "being deleted",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			instance := sandbox(v1alpha.SandboxContainer{})
			if test.instance != nil {
				test.instance(instance)
			}
			got := desiredStatus(&observed{instance: instance, pod: test.pod, blocked: test.blocked, found: instance.Status.Conditions}, apply.Stamp{
				Generation: 4, Now: now,
			})
			for conditionType, want := range map[string]string{
				v1alpha.ConditionReady: test.wantReady, v1alpha.ConditionAvailable: test.wantAvailable,
				v1alpha.ConditionProgrammed: test.wantProgrammed,
			} {
				condition := meta.FindStatusCondition(got.Conditions, conditionType)
				wantStatus := metav1.ConditionFalse
				if want == v1alpha.ReasonAvailable || want == v1alpha.ReasonProgrammed {
					wantStatus = metav1.ConditionTrue
				}
				if condition.Reason != want || condition.Status != wantStatus || condition.ObservedGeneration != 4 {
					t.Errorf("%s is %+v, want %s %s", conditionType, condition, wantStatus, want)
				}
			}
			if message := meta.FindStatusCondition(got.Conditions, v1alpha.ConditionReady).Message; !strings.Contains(message,
				test.wantMessage) || !isComplete(message) {
				t.Errorf("message %q, want %q in it", message, test.wantMessage)
			}
			if (got.Controller != nil) != (test.pod != nil) || (got.Controller != nil && got.Controller.ObservedTemplateHash != "hash") {
				t.Errorf("controller %+v", got.Controller)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	instance := sandbox(v1alpha.SandboxContainer{})
	instance.Spec.NetworkInterfaces = append(instance.Spec.NetworkInterfaces, v1alpha.InstanceNetworkInterface{})
	stamp := apply.Stamp{Generation: 1, Now: now}
	if got := desiredStatus(&observed{instance: instance, pod: pod("Pending")}, stamp).NetworkInterfaces; got != nil {
		t.Errorf("without an address: %+v", got)
	}
	got := desiredStatus(&observed{instance: instance, pod: pod("Running", onNode)}, stamp).NetworkInterfaces
	if len(got) != 2 || *got[0].Assignments.NetworkIP != "10.0.0.1" || got[1].Assignments.NetworkIP != nil {
		t.Errorf("got %+v", got)
	}
	all := desiredStatus(&observed{instance: instance, pod: pod("Running", onNode)}, stamp).Conditions
	if got := meta.FindStatusCondition(all, v1alpha.ConditionProgrammed); got.Status != metav1.ConditionFalse ||
		got.Reason != v1alpha.ReasonFieldsNotHonoured {
		t.Errorf("with an interface that no Pod has, Programmed is %+v", got)
	}
}

func TestSameStatus(t *testing.T) {
	instance := sandbox(v1alpha.SandboxContainer{})
	seen := &observed{instance: instance, pod: pod("Running", onNode, with(corev1.PodReady, corev1.ConditionTrue, ""))}
	wanted := desiredStatus(seen, apply.Stamp{Generation: 1, Now: now})
	if sameStatus(&instance.Status, &wanted) {
		t.Error("an empty status is not the wanted one")
	}
	instance.Status = *wanted.DeepCopy()
	instance.Status.Conditions = append([]metav1.Condition{
		{Type: v1alpha.ConditionQuotaGranted, Status: metav1.ConditionTrue},
	}, instance.Status.Conditions...)
	later := desiredStatus(seen, apply.Stamp{Generation: 1, Now: now.Add(time.Hour)})
	if !sameStatus(&instance.Status, &later) {
		t.Error("nothing changed, and yet it differs")
	}
	seen.pod.Status.PodIP = "10.0.0.2"
	moved := desiredStatus(seen, apply.Stamp{Generation: 1, Now: now})
	if sameStatus(&instance.Status, &moved) {
		t.Error("another address is a difference")
	}
}
