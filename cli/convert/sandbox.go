// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const podPath = "spec.template.spec"

func (c *conversion) sandbox(from *corev1.PodSpec) *v1alpha.SandboxRuntime {
	to := &v1alpha.SandboxRuntime{TerminationGracePeriodSeconds: c.grace(from.TerminationGracePeriodSeconds)}
	c.graceOf = ptr.Deref(to.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	if context := from.SecurityContext; context != nil {
		wanted := v1alpha.SandboxSecurityContext{
			RunAsUser: context.RunAsUser, RunAsGroup: context.RunAsGroup, RunAsNonRoot: context.RunAsNonRoot, FSGroup: context.FSGroup,
		}
		if wanted != (v1alpha.SandboxSecurityContext{}) {
			to.SecurityContext = &wanted
		}
	}
	for _, secret := range from.ImagePullSecrets {
		if named := (v1alpha.ImagePullSecretReference{Name: secret.Name}); !slices.Contains(to.ImagePullSecrets, named) {
			to.ImagePullSecrets = append(to.ImagePullSecrets, named)
		}
	}
	kept := map[string]bool{}
	for i := range from.Volumes {
		kept[from.Volumes[i].Name] = attachable(&from.Volumes[i])
	}
	// Ports of containers come first: a port of an init container gives way to theirs.
	for i := range from.Containers {
		path := fmt.Sprintf("%s.containers[%d]", podPath, i)
		container := c.container(&from.Containers[i], path, kept)
		if container.RestartPolicy != nil {
			container.RestartPolicy = nil
			c.losef(path+".restartPolicy", "only an init container has a policy of its own")
		}
		to.Containers = append(to.Containers, container)
	}
	for i := range from.InitContainers {
		path := fmt.Sprintf("%s.initContainers[%d]", podPath, i)
		to.InitContainers = append(to.InitContainers, c.container(&from.InitContainers[i], path, kept))
	}
	return to
}

// maxGrace is the longest grace period of a Workload, in seconds.
const maxGrace = 600

func (c *conversion) grace(seconds *int64) *int64 {
	if seconds == nil {
		return nil
	}
	return new(c.atMost(*seconds, maxGrace, podPath+".terminationGracePeriodSeconds"))
}

// atMost returns a number, or its bound.
func (c *conversion) atMost(number, bound int64, path string) int64 {
	if number <= bound {
		return number
	}
	c.losef(path, "is at most %d; the Workload has %d", bound, bound)
	return bound
}

// container converts a container of a Pod whose volumes are kept by name.
func (c *conversion) container(from *corev1.Container, path string, kept map[string]bool) v1alpha.SandboxContainer {
	to := v1alpha.SandboxContainer{
		Name: from.Name, Image: from.Image, Command: from.Command, Args: from.Args, EnvFrom: from.EnvFrom,
		WorkingDir: c.workingDir(from.WorkingDir, path), RestartPolicy: from.RestartPolicy,
		Resources: c.resources(&from.Resources, path+".resources"),
	}
	c.pullPolicy(from, path)
	renamed := c.convertPorts(&to, from.Ports, path)
	to.ReadinessProbe = c.probe(from.ReadinessProbe, path+".readinessProbe", renamed)
	to.LivenessProbe = c.probe(from.LivenessProbe, path+".livenessProbe", renamed)
	to.StartupProbe = c.probe(from.StartupProbe, path+".startupProbe", renamed)
	to.Lifecycle = c.lifecycle(from.Lifecycle, path+".lifecycle", renamed)
	if context := from.SecurityContext; context != nil {
		wanted := v1alpha.ContainerSecurityContext{
			RunAsUser: context.RunAsUser, RunAsGroup: context.RunAsGroup, RunAsNonRoot: context.RunAsNonRoot,
			ReadOnlyRootFilesystem: context.ReadOnlyRootFilesystem,
		}
		if wanted != (v1alpha.ContainerSecurityContext{}) {
			to.SecurityContext = &wanted
		}
	}
	c.variables(&to, from.Env, path)
	for i, mount := range from.VolumeMounts {
		if !kept[mount.Name] {
			c.losef(fmt.Sprintf("%s.volumeMounts[%d]", path, i), "its volume is not carried over")
			continue
		}
		to.VolumeAttachments = append(to.VolumeAttachments, v1alpha.VolumeAttachment{
			Name: mount.Name, MountPath: new(mount.MountPath), ReadOnly: mount.ReadOnly, SubPath: mount.SubPath,
		})
	}
	return to
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
			c.lose(podfields.Loss{Path: path + ".fieldRef",
				Why: to.FieldRef.FieldPath + ": supported are " + strings.Join(templates.FieldPaths, ", ") +
					", annotations without a domain"})
			return nil, false
		}
	}
	return to, true
}

// probe returns a probe of the Instance itself. The table lists a probe of another host.
func (c *conversion) probe(from *corev1.Probe, path string, renamed map[string]intstr.IntOrString) *corev1.Probe {
	to := from.DeepCopy()
	if to == nil {
		return nil
	}
	if to.HTTPGet != nil {
		to.HTTPGet.Host, to.HTTPGet.Port = "", renamedPort(to.HTTPGet.Port, renamed)
	}
	if to.TCPSocket != nil {
		to.TCPSocket.Host, to.TCPSocket.Port = "", renamedPort(to.TCPSocket.Port, renamed)
	}
	if grace := to.TerminationGracePeriodSeconds; grace != nil {
		to.TerminationGracePeriodSeconds = new(c.atMost(*grace, maxGrace, path+".terminationGracePeriodSeconds"))
	}
	return to
}

// lifecycle converts the handlers that a Workload supports. The table lists the others.
func (c *conversion) lifecycle(from *corev1.Lifecycle, path string, renamed map[string]intstr.IntOrString) *corev1.Lifecycle {
	if from == nil {
		return nil
	}
	to := &corev1.Lifecycle{
		PostStart: c.handler(from.PostStart, path+".postStart", renamed),
		PreStop:   c.handler(from.PreStop, path+".preStop", renamed),
	}
	if *to == (corev1.Lifecycle{}) {
		return nil
	}
	return to
}

func (c *conversion) handler(from *corev1.LifecycleHandler, path string, renamed map[string]intstr.IntOrString) *corev1.LifecycleHandler {
	if from == nil || from.TCPSocket != nil {
		return nil
	}
	to := from.DeepCopy()
	if to.HTTPGet != nil {
		to.HTTPGet.Host, to.HTTPGet.Port = "", renamedPort(to.HTTPGet.Port, renamed)
	}
	if to.Sleep != nil {
		if to.Sleep.Seconds < 1 {
			// It does nothing.
			return nil
		}
		to.Sleep.Seconds = c.atMost(to.Sleep.Seconds, min(maxGrace, c.graceOf), path+".sleep.seconds")
	}
	return to
}

// pullPolicy lists a policy that is not the default of the image: IfNotPresent, and Always for the tag latest.
func (c *conversion) pullPolicy(from *corev1.Container, path string) {
	policy := corev1.PullIfNotPresent
	if name := from.Image[strings.LastIndex(from.Image, "/")+1:]; !strings.ContainsAny(name, ":@") || strings.HasSuffix(name, ":latest") {
		policy = corev1.PullAlways
	}
	if from.ImagePullPolicy != "" && from.ImagePullPolicy != policy {
		c.losef(path+".imagePullPolicy", "cells use the default, %s for this image; name a digest", policy)
	}
}

// workingDir returns an absolute path: from where a relative one begins is up to the container runtime.
func (c *conversion) workingDir(from, path string) string {
	if from == "" || strings.HasPrefix(from, "/") {
		return from
	}
	c.losef(path+".workingDir", "must be absolute; it is /%s here", from)
	return "/" + from
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
			c.losef(fmt.Sprintf("%s.volumes[%d]", podPath, i), "no container mounts it")
		default:
			if dir := volume.EmptyDir; dir != nil && dir.SizeLimit != nil && dir.SizeLimit.IsZero() {
				// For Kubernetes, it is no limit.
				dir.SizeLimit = nil
			}
			to = append(to, v1alpha.InstanceVolume{Name: volume.Name, InstanceVolumeSource: v1alpha.InstanceVolumeSource{
				ConfigMap: volume.ConfigMap, Secret: volume.Secret, EmptyDir: volume.EmptyDir,
			}})
		}
	}
	return to
}
