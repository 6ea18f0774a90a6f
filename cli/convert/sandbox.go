// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/podfields"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const podPath = "spec.template.spec"

func (c *conversion) sandbox(from *corev1.PodSpec) *v1alpha.SandboxRuntime {
	to := &v1alpha.SandboxRuntime{TerminationGracePeriodSeconds: c.grace(from.TerminationGracePeriodSeconds)}
	if context := from.SecurityContext; context != nil {
		wanted := v1alpha.SandboxSecurityContext{
			RunAsUser: context.RunAsUser, RunAsGroup: context.RunAsGroup, RunAsNonRoot: context.RunAsNonRoot, FSGroup: context.FSGroup,
		}
		if wanted != (v1alpha.SandboxSecurityContext{}) {
			to.SecurityContext = &wanted
		}
	}
	for _, secret := range from.ImagePullSecrets {
		to.ImagePullSecrets = append(to.ImagePullSecrets, v1alpha.ImagePullSecretReference{Name: secret.Name})
	}
	kept := map[string]bool{}
	for i := range from.Volumes {
		kept[from.Volumes[i].Name] = attachable(&from.Volumes[i])
	}
	for i := range from.InitContainers {
		path := fmt.Sprintf("%s.initContainers[%d]", podPath, i)
		to.InitContainers = append(to.InitContainers, c.container(&from.InitContainers[i], path, kept))
	}
	for i := range from.Containers {
		path := fmt.Sprintf("%s.containers[%d]", podPath, i)
		container := c.container(&from.Containers[i], path, kept)
		if container.RestartPolicy != nil {
			container.RestartPolicy = nil
			c.lose(podfields.Loss{Path: path + ".restartPolicy", Why: "only an init container has a policy of its own"})
		}
		to.Containers = append(to.Containers, container)
	}
	return to
}

// maxGrace is the longest grace period of a Workload, in seconds.
const maxGrace = 600

func (c *conversion) grace(seconds *int64) *int64 {
	if seconds == nil || *seconds <= maxGrace {
		return seconds
	}
	c.lose(podfields.Loss{Path: podPath + ".terminationGracePeriodSeconds", Why: fmt.Sprintf("is at most %d; the Workload has %d", maxGrace, maxGrace)})
	return new(int64(maxGrace))
}

// container converts a container of a Pod whose volumes are kept by name.
func (c *conversion) container(from *corev1.Container, path string, kept map[string]bool) v1alpha.SandboxContainer {
	to := v1alpha.SandboxContainer{
		Name: from.Name, Image: from.Image, Command: from.Command, Args: from.Args, WorkingDir: from.WorkingDir, EnvFrom: from.EnvFrom,
		RestartPolicy: from.RestartPolicy, ReadinessProbe: withoutHost(from.ReadinessProbe), LivenessProbe: withoutHost(from.LivenessProbe),
		StartupProbe: withoutHost(from.StartupProbe), Lifecycle: lifecycle(from.Lifecycle),
	}
	if len(from.Resources.Limits)+len(from.Resources.Requests) > 0 {
		to.Resources = &v1alpha.ContainerResourceRequirements{Limits: from.Resources.Limits, Requests: from.Resources.Requests}
	}
	if context := from.SecurityContext; context != nil {
		wanted := v1alpha.ContainerSecurityContext{
			RunAsUser: context.RunAsUser, RunAsGroup: context.RunAsGroup, RunAsNonRoot: context.RunAsNonRoot,
			ReadOnlyRootFilesystem: context.ReadOnlyRootFilesystem,
		}
		if wanted != (v1alpha.ContainerSecurityContext{}) {
			to.SecurityContext = &wanted
		}
	}
	for _, port := range from.Ports {
		named := v1alpha.NamedPort{Name: port.Name, Port: port.ContainerPort}
		if port.Protocol != "" {
			named.Protocol = new(port.Protocol)
		}
		if named.Name == "" {
			named.Name = fmt.Sprintf("%s-%d", strings.ToLower(string(orTCP(port.Protocol))), port.ContainerPort)
		}
		to.Ports = append(to.Ports, named)
	}
	for i, variable := range from.Env {
		if source, ok := c.source(variable.ValueFrom, fmt.Sprintf("%s.env[%d].valueFrom", path, i)); ok {
			to.Env = append(to.Env, corev1.EnvVar{Name: variable.Name, Value: variable.Value, ValueFrom: source})
		}
	}
	for i, mount := range from.VolumeMounts {
		if !kept[mount.Name] {
			c.lose(podfields.Loss{Path: fmt.Sprintf("%s.volumeMounts[%d]", path, i), Why: "its volume is not carried over"})
			continue
		}
		to.VolumeAttachments = append(to.VolumeAttachments, v1alpha.VolumeAttachment{
			Name: mount.Name, MountPath: new(mount.MountPath), ReadOnly: mount.ReadOnly, SubPath: mount.SubPath,
		})
	}
	return to
}

func orTCP(protocol corev1.Protocol) corev1.Protocol {
	if protocol == "" {
		return corev1.ProtocolTCP
	}
	return protocol
}

// podIndex is the label by which Pods of a StatefulSet know their index.
const podIndex = "apps.kubernetes.io/pod-index"

// source converts the source of a variable. ok is false for a source that no cell has; its variable is left out.
func (c *conversion) source(from *corev1.EnvVarSource, path string) (source *corev1.EnvVarSource, ok bool) {
	if from == nil {
		return nil, true
	}
	to := from.DeepCopy()
	switch {
	case to.FileKeyRef != nil:
		// The table lists it.
		return nil, false
	case to.ResourceFieldRef != nil:
		known := []string{"limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
		if !slices.Contains(known, to.ResourceFieldRef.Resource) {
			c.lose(podfields.Loss{Path: path + ".resourceFieldRef", Why: "supports " + strings.Join(known, ", ")})
			return nil, false
		}
	case to.FieldRef != nil:
		to.FieldRef.FieldPath = strings.Replace(to.FieldRef.FieldPath, podIndex, v1alpha.LabelInstanceIndex, 1)
		field, key, known := templates.SplitFieldPath(to.FieldRef.FieldPath)
		if !known || field == templates.FieldAnnotations && !templates.IsPlainAnnotation(key) && key != v1alpha.AnnotationProjectName {
			c.lose(podfields.Loss{Path: path + ".fieldRef", Why: to.FieldRef.FieldPath + ": supported are " + strings.Join(templates.FieldPaths, ", ") +
				", annotations without a domain"})
			return nil, false
		}
	}
	return to, true
}

// withoutHost returns a probe of the Instance itself. The table lists a probe of another host.
func withoutHost(from *corev1.Probe) *corev1.Probe {
	to := from.DeepCopy()
	if to != nil && to.HTTPGet != nil {
		to.HTTPGet.Host = ""
	}
	if to != nil && to.TCPSocket != nil {
		to.TCPSocket.Host = ""
	}
	return to
}

// lifecycle converts the handlers that a Workload supports. The table lists the others.
func lifecycle(from *corev1.Lifecycle) *corev1.Lifecycle {
	if from == nil {
		return nil
	}
	to := &corev1.Lifecycle{PostStart: handler(from.PostStart), PreStop: handler(from.PreStop)}
	if *to == (corev1.Lifecycle{}) {
		return nil
	}
	return to
}

func handler(from *corev1.LifecycleHandler) *corev1.LifecycleHandler {
	if from == nil || from.TCPSocket != nil {
		return nil
	}
	to := from.DeepCopy()
	if to.HTTPGet != nil {
		to.HTTPGet.Host = ""
	}
	return to
}

func attachable(volume *corev1.Volume) bool {
	return volume.ConfigMap != nil || volume.Secret != nil || volume.EmptyDir != nil
}

// volumes converts the volumes that a container mounts.
func (c *conversion) volumes(from []corev1.Volume, sandbox *v1alpha.SandboxRuntime) []v1alpha.InstanceVolume {
	mounted := map[string]bool{}
	for _, container := range sandbox.AllContainers() {
		for _, attachment := range container.VolumeAttachments {
			mounted[attachment.Name] = true
		}
	}
	var to []v1alpha.InstanceVolume
	for i := range from {
		volume := from[i].DeepCopy()
		switch {
		case !attachable(volume):
			// The table lists it.
		case !mounted[volume.Name]:
			c.lose(podfields.Loss{Path: fmt.Sprintf("%s.volumes[%d]", podPath, i), Why: "no container mounts it"})
		default:
			to = append(to, v1alpha.InstanceVolume{Name: volume.Name, InstanceVolumeSource: v1alpha.InstanceVolumeSource{
				ConfigMap: volume.ConfigMap, Secret: volume.Secret, EmptyDir: volume.EmptyDir,
			}})
		}
	}
	return to
}
