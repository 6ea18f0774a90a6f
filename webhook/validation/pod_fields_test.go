// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const initPath = sandboxPath + "initContainers[0]."

func TestInitContainers(t *testing.T) {
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
	with := func(change func(*v1alpha.SandboxContainer)) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			first := v1alpha.SandboxContainer{Name: "first", Image: "docker.io/first:1"}
			change(&first)
			w.Spec.Template.Spec.Runtime.Sandbox.InitContainers = []v1alpha.SandboxContainer{first}
		}
	}
	policy := func(c *v1alpha.SandboxContainer, policy corev1.ContainerRestartPolicy) { c.RestartPolicy = &policy }
	checkRules(t, []rule{
		{"plain", nil, with(func(*v1alpha.SandboxContainer) {}), nil},
		{"sidecar with probes", nil, with(func(c *v1alpha.SandboxContainer) {
			policy(c, "Always")
			c.ReadinessProbe, c.StartupProbe = probe, probe
		}), nil},
		{"probes of one that ends", nil, with(func(c *v1alpha.SandboxContainer) {
			c.ReadinessProbe, c.LivenessProbe, c.StartupProbe, c.Lifecycle = probe, probe, probe, &corev1.Lifecycle{}
		}), []string{
			initPath + "readinessProbe " + forbidden, initPath + "livenessProbe " + forbidden,
			initPath + "startupProbe " + forbidden, initPath + "lifecycle " + forbidden,
		}},
		{
			"another policy", nil, with(func(c *v1alpha.SandboxContainer) { policy(c, "OnFailure") }),
			[]string{initPath + "restartPolicy " + unsupported},
		},
		{
			"a policy of a container", nil, func(w *v1alpha.Workload) { policy(container(w), "Always") },
			[]string{containerPath + "restartPolicy " + forbidden},
		},
		{"the name of a container", nil, with(func(c *v1alpha.SandboxContainer) { c.Name = "web" }), []string{initPath + "name " + duplicate}},
		{"no image", nil, with(func(c *v1alpha.SandboxContainer) { c.Image = "" }), []string{initPath + "image " + required}},
		{"a volume that there is not", nil, with(func(c *v1alpha.SandboxContainer) {
			c.VolumeAttachments = []v1alpha.VolumeAttachment{{Name: "gone", MountPath: new("/gone")}}
		}), []string{initPath + "volumeAttachments[0].name " + notFound}},
		{"the port of a container", nil, with(func(c *v1alpha.SandboxContainer) {
			policy(c, "Always")
			c.Ports = []v1alpha.NamedPort{{Name: "http", Port: 80}}
		}), nil},
		{"limits with a sidecar are the size", nil, func(w *v1alpha.Workload) {
			with(func(c *v1alpha.SandboxContainer) {
				policy(c, "Always")
				c.Resources = &v1alpha.ContainerResourceRequirements{Limits: resources("cpu", "250m")}
			})(w)
			container(w).Resources = &v1alpha.ContainerResourceRequirements{Limits: resources("cpu", "750m")}
			w.Spec.Template.Spec.Runtime.Resources.Requests = resources("cpu", "1")
		}, nil},
	})
}

// TestSidecarLargerThanTheType: neither sidecars nor init containers may exceed the type.
func TestSidecarLargerThanTheType(t *testing.T) {
	kind := v1alpha.InstanceType{}
	kind.Name, kind.Spec.Resources, kind.Spec.Lifecycle.Phase = "datumcloud-d1-standard-2", resources("cpu", "1"), v1alpha.InstanceTypeActive
	catalogue := Catalogue{Types: []v1alpha.InstanceType{kind}}
	for cpu, fits := range map[string]bool{"500m": true, "2": false} {
		for _, policy := range []*corev1.ContainerRestartPolicy{nil, new(corev1.ContainerRestartPolicyAlways)} {
			w := sandbox()
			w.Spec.Template.Spec.Runtime.Sandbox.InitContainers = []v1alpha.SandboxContainer{{
				Name: "first", Image: "docker.io/first:1", RestartPolicy: policy,
				Resources: &v1alpha.ContainerResourceRequirements{Limits: resources("cpu", cpu)},
			}}
			found, _ := InstanceType(w, nil, catalogue)
			if (len(found) == 0) != fits || !fits && !strings.Contains(found[0].Error(), "each init container") {
				t.Errorf("%s of CPU with policy %v: %v", cpu, policy, found)
			}
		}
	}
	w := sandbox()
	w.Spec.Template.Spec.Runtime.Sandbox.InitContainers = []v1alpha.SandboxContainer{{
		Name: "first", Image: "docker.io/first:1", Resources: &v1alpha.ContainerResourceRequirements{Limits: resources("nvidia.com/gpu", "1")},
	}}
	wantProblems(t, Metered(w, nil), initPath+"resources.limits[nvidia.com/gpu] "+forbidden)
}

func TestSecurityContext(t *testing.T) {
	of := func(sandbox v1alpha.SandboxSecurityContext, own *v1alpha.ContainerSecurityContext) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Sandbox.SecurityContext, container(w).SecurityContext = &sandbox, own
		}
	}
	none, root, user := v1alpha.SandboxSecurityContext{}, new(int64(0)), new(int64(1000))
	checkRules(t, []rule{
		{
			"user and groups", nil, of(v1alpha.SandboxSecurityContext{
				RunAsUser: user, RunAsGroup: user, FSGroup: user, RunAsNonRoot: new(true),
			}, nil), nil,
		},
		{"root", nil, of(none, &v1alpha.ContainerSecurityContext{RunAsUser: root, ReadOnlyRootFilesystem: new(true)}), nil},
		{"IDs that Linux does not have", nil, of(v1alpha.SandboxSecurityContext{
			RunAsUser: new(int64(-1)), RunAsGroup: new(int64(-1)), FSGroup: new(int64(1 << 31)),
		}, nil), []string{
			sandboxPath + "securityContext.runAsUser " + invalid, sandboxPath + "securityContext.runAsGroup " + invalid,
			sandboxPath + "securityContext.fsGroup " + invalid,
		}},
		{"root of a sandbox without root", nil, of(v1alpha.SandboxSecurityContext{RunAsNonRoot: new(true)},
			&v1alpha.ContainerSecurityContext{RunAsUser: root}), []string{
			containerPath + "securityContext.runAsUser " + invalid,
		}},
		{"no root as root", nil, of(v1alpha.SandboxSecurityContext{RunAsUser: root},
			&v1alpha.ContainerSecurityContext{RunAsNonRoot: new(true)}), []string{
			containerPath + "securityContext.runAsUser " + invalid,
		}},
		{
			"a user of its own", nil, of(v1alpha.SandboxSecurityContext{RunAsUser: root},
				&v1alpha.ContainerSecurityContext{RunAsUser: user, RunAsNonRoot: new(true)}), nil,
		},
	})
}

func TestVariablesOfFields(t *testing.T) {
	const from = containerPath + "env[0].valueFrom."
	source := func(source corev1.EnvVarSource) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).Env = []corev1.EnvVar{{Name: "A", ValueFrom: &source}} }
	}
	path := func(path string) func(*v1alpha.Workload) {
		return source(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}})
	}
	resource := func(name, of, divisor string) func(*v1alpha.Workload) {
		ref := &corev1.ResourceFieldSelector{Resource: name, ContainerName: of}
		if divisor != "" {
			ref.Divisor = *quantity(divisor)
		}
		return source(corev1.EnvVarSource{ResourceFieldRef: ref})
	}
	rules := []rule{
		{"no path", nil, path(""), []string{from + "fieldRef.fieldPath " + required}},
		{"a wrong label", nil, path("metadata.labels['a b']"), []string{from + "fieldRef.fieldPath " + invalid}},
		{"an annotation with a domain", nil, path("metadata.annotations['example.com/a']"), []string{from + "fieldRef.fieldPath " + invalid}},
		{"another version", nil, source(corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v2", FieldPath: "metadata.name"},
		}), []string{
			from + "fieldRef.apiVersion " + unsupported,
		}},
		{"a limit", nil, resource("limits.cpu", "", "1m"), nil},
		{"a request of a container", nil, resource("requests.memory", "web", "1Mi"), nil},
		{
			"of a container that there is not", nil, resource("limits.cpu", "gone", ""),
			[]string{from + "resourceFieldRef.containerName " + notFound},
		},
		{"of a disk", nil, resource("limits.ephemeral-storage", "", ""), []string{from + "resourceFieldRef.resource " + unsupported}},
		{"a divisor that Kubernetes refuses", nil, resource("limits.cpu", "", "2"), []string{from + "resourceFieldRef.divisor " + unsupported}},
		{"two", nil, source(corev1.EnvVarSource{
			FieldRef:         &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
			ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"},
		}), []string{from + "resourceFieldRef " + forbidden}},
	}
	for _, honoured := range []string{
		"metadata.name", "metadata.namespace", "metadata.labels['" + v1alpha.LabelInstanceIndex + "']",
		"metadata.labels['" + v1alpha.LabelCityCode + "']",
		"metadata.annotations['" + v1alpha.AnnotationProjectName + "']", "metadata.annotations['team']", "status.podIP", "status.podIPs",
	} {
		rules = append(rules, rule{honoured, nil, path(honoured), nil})
	}
	for _, refused := range []string{
		"metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "metadata.labels",
		"metadata.labels['']", "metadata.labels['a", "spec.x['a']",
	} {
		rules = append(rules, rule{refused, nil, path(refused), []string{from + "fieldRef.fieldPath " + unsupported}})
	}
	checkRules(t, rules)
}

func TestMountsAndFolders(t *testing.T) {
	const mount = containerPath + "volumeAttachments[0]."
	sub := func(path string) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).VolumeAttachments[0].SubPath = path }
	}
	empty := func(source corev1.EmptyDirVolumeSource) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			volume(w, 2).InstanceVolumeSource = v1alpha.InstanceVolumeSource{EmptyDir: &source}
		}
	}
	checkRules(t, []rule{
		{"read-only", nil, func(w *v1alpha.Workload) { container(w).VolumeAttachments[0].ReadOnly = true }, nil},
		{"a part", nil, sub("a/b..c"), nil},
		{"an absolute part", nil, sub("/a"), []string{mount + "subPath " + invalid}},
		{"a part above", nil, sub("a/../../b"), []string{mount + "subPath " + invalid}},
		{"a volume at two paths", nil, func(w *v1alpha.Workload) {
			container(w).VolumeAttachments = append(container(w).VolumeAttachments,
				v1alpha.VolumeAttachment{Name: "config", MountPath: new("/etc/other"), SubPath: "other"})
		}, nil},
		{
			"read-only in a machine", machine, func(w *v1alpha.Workload) { vm(w).VolumeAttachments[1].ReadOnly = true },
			[]string{machinePath + "volumeAttachments[1].readOnly " + forbidden},
		},
		{
			"a part in a machine", machine, func(w *v1alpha.Workload) { vm(w).VolumeAttachments[1].SubPath = "a" },
			[]string{machinePath + "volumeAttachments[1].subPath " + forbidden},
		},
		{"emptyDir", nil, empty(corev1.EmptyDirVolumeSource{}), nil},
		{"emptyDir in memory", nil, empty(corev1.EmptyDirVolumeSource{Medium: "Memory", SizeLimit: quantity("64Mi")}), nil},
		{
			"emptyDir of huge pages", nil, empty(corev1.EmptyDirVolumeSource{Medium: "HugePages"}),
			[]string{volumePath + "[2].emptyDir.medium " + unsupported},
		},
		{"emptyDir of no size", nil, empty(corev1.EmptyDirVolumeSource{SizeLimit: quantity("0")}), nil},
		{
			"emptyDir of a negative size", nil, empty(corev1.EmptyDirVolumeSource{SizeLimit: quantity("-1")}),
			[]string{volumePath + "[2].emptyDir.sizeLimit " + invalid},
		},
		{
			"emptyDir beside a Secret", nil, func(w *v1alpha.Workload) { volume(w, 1).EmptyDir = &corev1.EmptyDirVolumeSource{} }, []string{
				volumePath + "[1].emptyDir " + forbidden,
			},
		},
		{"a folder", nil, func(w *v1alpha.Workload) { container(w).WorkingDir = "/srv" }, nil},
		{
			"a relative folder", nil, func(w *v1alpha.Workload) { container(w).WorkingDir = "srv" },
			[]string{containerPath + "workingDir " + invalid},
		},
	})
}

func TestMinReadyAndUnavailable(t *testing.T) {
	ready := func(seconds, deadline int32) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			w.Spec.MinReadySeconds = &seconds
			if deadline > 0 {
				w.Spec.Rollout = &v1alpha.WorkloadRollout{ProgressDeadlineSeconds: &deadline}
			}
		}
	}
	unavailable := func(most intstr.IntOrString) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) { w.Spec.Rollout = &v1alpha.WorkloadRollout{MaxUnavailable: &most} }
	}
	checkRules(t, []rule{
		{"ten seconds", nil, ready(10, 0), nil},
		{"the default deadline", nil, ready(600, 0), []string{"spec.minReadySeconds " + invalid}},
		{"below a longer deadline", nil, ready(600, 601), nil},
		{"beyond the bound", nil, ready(3601, 4000), []string{"spec.minReadySeconds " + invalid}},
		{"negative", nil, ready(-1, 0), []string{"spec.minReadySeconds " + invalid}},
		{"one", nil, unavailable(intstr.FromInt32(1)), nil},
		{"half", nil, unavailable(intstr.FromString("50%")), nil},
		{"none", nil, unavailable(intstr.FromInt32(0)), []string{"spec.rollout.maxUnavailable " + invalid}},
		{"0%", nil, unavailable(intstr.FromString("0%")), []string{"spec.rollout.maxUnavailable " + invalid}},
		{"101%", nil, unavailable(intstr.FromString("101%")), []string{"spec.rollout.maxUnavailable " + invalid}},
		{"text", nil, unavailable(intstr.FromString("half")), []string{"spec.rollout.maxUnavailable " + invalid}},
	})
}

func TestBehavior(t *testing.T) {
	const down = scalePath + "behavior.scaleDown"
	with := func(rules autoscalingv2.HPAScalingRules) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			scale(w).MaxReplicas, scale(w).Metrics = new(int32(3)), cpuMetric(v1alpha.MetricTarget{AverageUtilization: new(int32(50))})
			scale(w).Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &rules}
		}
	}
	policy := func(policy autoscalingv2.HPAScalingPolicy) func(*v1alpha.Workload) {
		return with(autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{policy}})
	}
	checkRules(t, []rule{
		{"a window", nil, with(autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0))}), nil},
		{
			"a window of a day", nil, with(autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(86400))}),
			[]string{down + ".stabilizationWindowSeconds " + invalid},
		},
		{"never", nil, with(autoscalingv2.HPAScalingRules{SelectPolicy: new(autoscalingv2.DisabledPolicySelect)}), nil},
		{
			"an unknown choice", nil, with(autoscalingv2.HPAScalingRules{SelectPolicy: new(autoscalingv2.ScalingPolicySelect("Any"))}), []string{
				down + ".selectPolicy " + unsupported,
			},
		},
		{"a policy", nil, policy(autoscalingv2.HPAScalingPolicy{Type: "Pods", Value: 1, PeriodSeconds: 60}), nil},
		{"a wrong policy", nil, policy(autoscalingv2.HPAScalingPolicy{Type: "Nodes", PeriodSeconds: 1801}), []string{
			down + ".policies[0].type " + unsupported, down + ".policies[0].value " + invalid, down + ".policies[0].periodSeconds " + invalid,
		}},
		{
			"no policies", nil, with(autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{}}),
			[]string{down + ".policies " + required},
		},
		{"a tolerance", nil, with(autoscalingv2.HPAScalingRules{Tolerance: quantity("100m")}), []string{down + ".tolerance " + forbidden}},
		{
			"without metrics", nil, func(w *v1alpha.Workload) { scale(w).Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{} }, []string{
				scalePath + "behavior " + forbidden,
			},
		},
	})
}
