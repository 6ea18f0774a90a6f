// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// everything gives the template of a deployment every field that a Pod's owner has.
func everything(d *v1alpha.WorkloadDeployment) {
	probe := func(handler corev1.ProbeHandler) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: handler, PeriodSeconds: 1, TimeoutSeconds: 2, SuccessThreshold: 1, FailureThreshold: 4}
	}
	app := &d.Spec.Template.Spec.Runtime.Sandbox.Containers[0]
	app.WorkingDir = "/srv"
	app.Ports = []v1alpha.NamedPort{{Name: "http", Port: 80}}
	app.ReadinessProbe = probe(corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP},
	})
	app.LivenessProbe = probe(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}})
	app.StartupProbe = probe(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80, Service: new("")}})
	app.Lifecycle = &corev1.Lifecycle{
		PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}},
		PreStop:   &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}},
	}
	app.SecurityContext = &v1alpha.ContainerSecurityContext{
		RunAsUser: new(int64(1000)), RunAsGroup: new(int64(1000)), RunAsNonRoot: new(true), ReadOnlyRootFilesystem: new(true),
	}
	app.VolumeAttachments = []v1alpha.VolumeAttachment{
		{Name: "scratch", MountPath: new("/tmp")}, {Name: "scratch", MountPath: new("/cache"), SubPath: "cache", ReadOnly: true},
	}
	for name, source := range map[string]corev1.EnvVarSource{
		"NAME":    {FieldRef: &corev1.ObjectFieldSelector{FieldPath: templates.FieldName}},
		"ADDRESS": {FieldRef: &corev1.ObjectFieldSelector{FieldPath: templates.FieldAddress}},
		"TEAM":    {FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['team']"}},
		"CPU":     {ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu", Divisor: quantity("1m")}},
	} {
		app.Env = append(app.Env, corev1.EnvVar{Name: name, ValueFrom: &source})
	}
	sandbox := d.Spec.Template.Spec.Runtime.Sandbox
	sandbox.InitContainers = []v1alpha.SandboxContainer{
		{Name: "migrate", Image: "example.com/migrate"},
		{
			Name: "proxy", Image: "example.com/proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
			StartupProbe: probe(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(5433)}}),
			Resources: &v1alpha.ContainerResourceRequirements{
				Limits: corev1.ResourceList{corev1.ResourceCPU: quantity("100m"), corev1.ResourceMemory: quantity("64Mi")},
			},
		},
	}
	sandbox.TerminationGracePeriodSeconds = new(int64(7))
	sandbox.SecurityContext = &v1alpha.SandboxSecurityContext{
		RunAsUser: new(int64(1)), RunAsGroup: new(int64(2)), RunAsNonRoot: new(true), FSGroup: new(int64(3)),
	}
	d.Spec.Template.Annotations = map[string]string{"team": "a"}
	d.Spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{{Name: "scratch", InstanceVolumeSource: v1alpha.InstanceVolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: new(quantity("16Mi"))},
	}}}
	d.Spec.InstanceTypeResources = corev1.ResourceList{corev1.ResourceCPU: quantity("1"), corev1.ResourceMemory: quantity("2Gi")}
	d.Spec.MinReadySeconds = new(int32(3))
	d.Spec.Rollout = &v1alpha.WorkloadRollout{MaxUnavailable: new(intstr.FromString("50%"))}
	d.Spec.ScaleSettings.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{
		ScaleUp: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(5))},
	}
}

// TestEveryFieldOfATemplate is stored by the API server of a cell, and Kubernetes takes the Pod.
func TestEveryFieldOfATemplate(t *testing.T) {
	f := newFixture(t)
	var wanted *v1alpha.WorkloadDeployment
	deployment := f.deployment(1, everything, func(d *v1alpha.WorkloadDeployment) {
		wanted = d.DeepCopy()
		// The API server of a cell with the CRD of this version drops no field that the hub requires.
		d.Annotations = map[string]string{v1alpha.AnnotationRequires: templates.Requires(&d.Spec)}
	})
	stored := f.storedDeployment()
	if !equality.Semantic.DeepEqual(stored.Spec, wanted.Spec) {
		t.Errorf("the API server stores %+v\nof %+v", stored.Spec, wanted.Spec)
	}
	if missing := templates.MissingFields(stored); len(missing) > 0 {
		t.Errorf("dropped are %v", missing)
	}
	f.reconcile(f.deployments(), deployment.Name)
	f.reconcile(f.runtime(), "web-0")
	pod := f.storedPod("web-0")
	if pod == nil {
		t.Fatalf("no Pod: %+v", f.storedInstance("web-0").Status.Conditions)
	}
	checkPod(t, pod, &stored.Spec.Template.Spec.Runtime.Sandbox.Containers[0])
}

// checkPod compares a Pod with the container of the template and with the rest of it.
func checkPod(t *testing.T, pod *corev1.Pod, template *v1alpha.SandboxContainer) {
	t.Helper()
	app := pod.Spec.Containers[0]
	got := []any{app.ReadinessProbe, app.LivenessProbe, app.StartupProbe, app.Lifecycle}
	if want := []any{
		template.ReadinessProbe, template.LivenessProbe, template.StartupProbe, template.Lifecycle,
	}; !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("container %+v", app)
	}
	if len(app.VolumeMounts) != 2 || app.VolumeMounts[1].SubPath != "cache" || !app.VolumeMounts[1].ReadOnly || app.WorkingDir != "/srv" {
		t.Errorf("mounts %+v", app.VolumeMounts)
	}
	if len(pod.Spec.InitContainers) != 2 || *pod.Spec.TerminationGracePeriodSeconds != 7 ||
		*pod.Spec.SecurityContext.FSGroup != 3 || pod.Annotations["team"] != "a" {
		t.Errorf("Pod %+v", pod.Spec)
	}
	for _, variable := range app.Env {
		if variable.Name == "NAME" && (variable.Value != "web-0" || variable.ValueFrom != nil) {
			t.Errorf("the name is %+v", variable)
		}
	}
}

// TestRolloutInParallel: as many Instances are replaced as may be unavailable, and the next when their successors are
// available.
func TestRolloutInParallel(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(4, parallel, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Rollout = &v1alpha.WorkloadRollout{MaxUnavailable: new(intstr.FromString("50%"))}
	})
	old := f.storedDeployment()
	old.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "example.com/earlier"
	for index := range 4 {
		instance := f.instance(old, index)
		f.setReady(instance, metav1.ConditionTrue)
	}
	f.reconcile(f.deployments(), deployment.Name)
	f.wantInstances([]string{"web-0", "web-1"}, []string{"web-2", "web-3"})
}
