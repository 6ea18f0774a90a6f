// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const podPath = "spec.template.spec"

func (c *conversion) sandbox(from *corev1.PodSpec) *v1alpha.SandboxRuntime {
	target := &v1alpha.SandboxRuntime{TerminationGracePeriodSeconds: c.grace(from.TerminationGracePeriodSeconds)}
	c.graceOf = ptr.Deref(target.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	if context := from.SecurityContext; context != nil {
		wanted := v1alpha.SandboxSecurityContext{
			RunAsUser: context.RunAsUser, RunAsGroup: context.RunAsGroup, RunAsNonRoot: context.RunAsNonRoot, FSGroup: context.FSGroup,
		}
		if wanted != (v1alpha.SandboxSecurityContext{}) {
			target.SecurityContext = &wanted
		}
		c.sysctls(context.Sysctls)
	}
	for _, secret := range from.ImagePullSecrets {
		named := v1alpha.ImagePullSecretReference{Name: secret.Name}
		if secret.Name != "" && !slices.Contains(target.ImagePullSecrets, named) {
			target.ImagePullSecrets = append(target.ImagePullSecrets, named)
		}
	}
	volumes := map[string]*corev1.Volume{}
	for i := range from.Volumes {
		volumes[from.Volumes[i].Name] = &from.Volumes[i]
	}
	for i := range from.Containers {
		path := fmt.Sprintf("%s.containers[%d]", podPath, i)
		container := c.container(&from.Containers[i], path, volumes)
		if container.RestartPolicy != nil {
			container.RestartPolicy = nil
			c.losef(path+".restartPolicy", "only an init container has a policy of its own")
		}
		target.Containers = append(target.Containers, container)
	}
	for i := range from.InitContainers {
		path := fmt.Sprintf("%s.initContainers[%d]", podPath, i)
		target.InitContainers = append(target.InitContainers, c.container(&from.InitContainers[i], path, volumes))
		c.needsPrivileges(&from.InitContainers[i], path)
	}
	return target
}

// sysctls lists the parameters of the kernel that Pods set.
func (c *conversion) sysctls(from []corev1.Sysctl) {
	for i, parameter := range from {
		why := "cells leave it at the default of the kernel"
		if parameter.Name == "net.ipv4.ip_unprivileged_port_start" {
			why = "a program of another user than root listens at ports from 1024 alone: choose such a port"
		}
		c.losef(fmt.Sprintf("%s.securityContext.sysctls[%d]", podPath, i), "%s: %s", parameter.Name, why)
	}
}

// Bounds of a Workload, in seconds and in numbers of probes.
const (
	maxGrace        = 600
	maxProbeSeconds = 3600
	maxThreshold    = 1000
)

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

// container converts a container of a Pod with these volumes.
func (c *conversion) container(from *corev1.Container, path string, volumes map[string]*corev1.Volume) v1alpha.SandboxContainer {
	target := v1alpha.SandboxContainer{
		Name: from.Name, Image: from.Image, Command: from.Command, Args: from.Args, EnvFrom: from.EnvFrom,
		WorkingDir: c.workingDir(from.WorkingDir, path), RestartPolicy: from.RestartPolicy,
		Resources: c.resources(&from.Resources, path+".resources"),
	}
	c.pullPolicy(from, path)
	c.capabilities(from, path)
	target.Ports = portsOf(from.Ports)
	target.ReadinessProbe = c.probe(from.ReadinessProbe, path+".readinessProbe")
	target.LivenessProbe = c.probe(from.LivenessProbe, path+".livenessProbe")
	target.StartupProbe = c.probe(from.StartupProbe, path+".startupProbe")
	target.Lifecycle = c.lifecycle(from.Lifecycle, path+".lifecycle")
	if context := from.SecurityContext; context != nil {
		wanted := v1alpha.ContainerSecurityContext{
			RunAsUser: context.RunAsUser, RunAsGroup: context.RunAsGroup, RunAsNonRoot: context.RunAsNonRoot,
			ReadOnlyRootFilesystem: context.ReadOnlyRootFilesystem,
		}
		if wanted != (v1alpha.ContainerSecurityContext{}) {
			target.SecurityContext = &wanted
		}
	}
	c.variables(&target, from.Env, path)
	for i, mount := range from.VolumeMounts {
		if volume := volumes[mount.Name]; volume == nil || !attachable(volume) {
			c.losef(fmt.Sprintf("%s.volumeMounts[%d]", path, i), "its volume is not carried over")
			if volume != nil && (volume.Projected != nil || volume.DownwardAPI != nil || volume.CSI != nil || volume.Image != nil) {
				c.folders = append(c.folders, folder{mount.MountPath, "whose volume " + mount.Name + " is not carried over", from.Name})
			}
			continue
		}
		target.VolumeAttachments = append(target.VolumeAttachments, v1alpha.VolumeAttachment{
			Name: mount.Name, MountPath: new(absolute(mount.MountPath)), ReadOnly: mount.ReadOnly, SubPath: mount.SubPath,
		})
	}
	return target
}

// ofControllers are labels that controllers of Kubernetes set on Pods, and no Instance has.
var ofControllers = []string{appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey}

// source converts the source of a variable. ok is false for a source that no cell has; its variable is left out.
func (c *conversion) source(from *corev1.EnvVarSource, path string) (source *corev1.EnvVarSource, ok bool) {
	if from == nil {
		return nil, true
	}
	target := from.DeepCopy()
	switch {
	case target.FileKeyRef != nil:
		// The table lists it.
		return nil, false
	case target.ResourceFieldRef != nil:
		known := []string{"limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
		if !slices.Contains(known, target.ResourceFieldRef.Resource) {
			c.lose(podfields.Loss{Path: path + ".resourceFieldRef", Why: "supports " + strings.Join(known, ", ")})
			return nil, false
		}
	case target.FieldRef != nil:
		return target, c.fieldRef(target.FieldRef, path+".fieldRef")
	}
	return target, true
}

// fieldRef names a field as an Instance has it. It returns false for a field that no cell has.
func (c *conversion) fieldRef(ref *corev1.ObjectFieldSelector, path string) bool {
	switch ref.FieldPath {
	case templates.FieldLabels + "['" + appsv1.PodIndexLabel + "']":
		ref.FieldPath = templates.FieldLabels + "['" + v1alpha.LabelInstanceIndex + "']"
	case templates.FieldLabels + "['" + appsv1.StatefulSetPodNameLabel + "']":
		ref.FieldPath = templates.FieldName
	}
	field, key, known := templates.SplitFieldPath(ref.FieldPath)
	if !known || field == templates.FieldAnnotations && !templates.IsPlainAnnotation(key) && key != v1alpha.AnnotationProjectName {
		c.lose(podfields.Loss{Path: path, Why: ref.FieldPath + ": supported are " + strings.Join(templates.FieldPaths, ", ") +
			", annotations without a domain"})
		return false
	}
	_, tracked := trackerOf(key)
	gone := tracked && key != v1alpha.LabelInstanceIndex || slices.Contains(ofControllers, key)
	if field == templates.FieldLabels && gone {
		c.losef(path, "no Instance has label %s", key)
		return false
	}
	return true
}

// probe returns a probe of the Instance itself. The table lists a probe of another host.
func (c *conversion) probe(from *corev1.Probe, path string) *corev1.Probe {
	target := from.DeepCopy()
	if target == nil {
		return nil
	}
	if target.HTTPGet != nil {
		target.HTTPGet.Host = ""
	}
	if target.TCPSocket != nil {
		target.TCPSocket.Host = ""
	}
	for _, entry := range []struct {
		name  string
		value *int32
		bound int64
	}{
		{"initialDelaySeconds", &target.InitialDelaySeconds, maxProbeSeconds},
		{"timeoutSeconds", &target.TimeoutSeconds, maxProbeSeconds},
		{"periodSeconds", &target.PeriodSeconds, maxProbeSeconds},
		{"successThreshold", &target.SuccessThreshold, maxThreshold},
		{"failureThreshold", &target.FailureThreshold, maxThreshold},
	} {
		*entry.value = int32(c.atMost(int64(*entry.value), entry.bound, path+"."+entry.name)) //nolint:gosec // at most the bound
	}
	if grace := target.TerminationGracePeriodSeconds; grace != nil {
		target.TerminationGracePeriodSeconds = new(c.atMost(*grace, maxGrace, path+".terminationGracePeriodSeconds"))
	}
	return target
}

// lifecycle converts the handlers that a Workload supports. The table lists the others.
func (c *conversion) lifecycle(from *corev1.Lifecycle, path string) *corev1.Lifecycle {
	if from == nil {
		return nil
	}
	target := &corev1.Lifecycle{
		PostStart: c.handler(from.PostStart, path+".postStart"),
		PreStop:   c.handler(from.PreStop, path+".preStop"),
	}
	if seconds := sleepOf(target.PreStop); seconds > 0 && seconds >= c.graceOf {
		c.losef(path+".preStop", "nothing of the grace period of %d seconds is left for SIGTERM: choose a shorter sleep, "+
			"or a terminationGracePeriodSeconds up to %d", c.graceOf, maxGrace)
	}
	if *target == (corev1.Lifecycle{}) {
		return nil
	}
	return target
}

// sleepOf is how long a handler sleeps, in seconds.
func sleepOf(handler *corev1.LifecycleHandler) int64 {
	switch {
	case handler == nil:
		return 0
	case handler.Sleep != nil:
		return handler.Sleep.Seconds
	default:
		match := asleep.FindStringSubmatch(strings.Join(ptr.Deref(handler.Exec, corev1.ExecAction{}).Command, " "))
		if match == nil {
			return 0
		}
		seconds, _ := strconv.ParseInt(match[1], 10, 64)
		return seconds
	}
}

// asleep is a command that waits.
var asleep = regexp.MustCompile(`\bsleep\s+["']?([0-9]{1,6})\b`)

func (c *conversion) handler(from *corev1.LifecycleHandler, path string) *corev1.LifecycleHandler {
	if from == nil || from.TCPSocket != nil {
		return nil
	}
	target := from.DeepCopy()
	if target.HTTPGet != nil {
		target.HTTPGet.Host = ""
	}
	if target.Sleep != nil {
		if target.Sleep.Seconds < 1 {
			// It does nothing.
			return nil
		}
		if c.graceOf < 1 {
			c.losef(path+".sleep", "a grace period of 0 leaves no time for it")
			return nil
		}
		target.Sleep.Seconds = c.atMost(target.Sleep.Seconds, min(maxGrace, c.graceOf), path+".sleep.seconds")
	}
	return target
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
	return absolute(from)
}

// absolute returns a path as nodes take it: a relative one begins at the root.
func absolute(path string) string {
	if path == "" || strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

// capabilities lists the capabilities that a container adds, by whether cells have them.
func (c *conversion) capabilities(from *corev1.Container, path string) {
	context := from.SecurityContext
	if context == nil || context.Capabilities == nil {
		return
	}
	for i, capability := range context.Capabilities.Add {
		path := fmt.Sprintf("%s.securityContext.capabilities.add[%d]", path, i)
		switch name := strings.TrimPrefix(strings.ToUpper(string(capability)), "CAP_"); {
		case slices.Contains(templates.DefaultCapabilities, name):
			c.losef(path, "containers keep %s anyway, unless the operator of a cell has chosen otherwise", name)
		case slices.Contains(templates.BaselineCapabilities, name):
			c.losef(path, "containers have %s only where the operator of a cell allows it", name)
		default:
			c.losef(path, "no cell gives %s to a container: what needs it fails", name)
		}
	}
}

// needsPrivileges lists an init container that fails without the privileges that no cell gives it: the Instance does
// not start then.
func (c *conversion) needsPrivileges(from *corev1.Container, path string) {
	context := ptr.Deref(from.SecurityContext, corev1.SecurityContext{})
	added := ptr.Deref(context.Capabilities, corev1.Capabilities{}).Add
	more := slices.ContainsFunc(added, func(name corev1.Capability) bool {
		return !slices.Contains(templates.DefaultCapabilities, string(name))
	})
	if ptr.Deref(context.Privileged, false) || more {
		c.losef(path, "init container %s is not privileged; if it fails, the Instance does not start: remove it, or change it", from.Name)
	}
}

// attachable reports whether cells attach a volume. One without a source is an emptyDir in Kubernetes.
func attachable(volume *corev1.Volume) bool {
	return volume.VolumeSource == (corev1.VolumeSource{}) || volume.ConfigMap != nil || volume.Secret != nil || volume.EmptyDir != nil
}

// volumes converts the volumes that a container mounts.
func (c *conversion) volumes(from []corev1.Volume, sandbox *v1alpha.SandboxRuntime) []v1alpha.InstanceVolume {
	mounted := map[string]bool{}
	for _, container := range sandbox.AllContainers() {
		for _, attachment := range container.VolumeAttachments {
			mounted[attachment.Name] = true
		}
	}
	var target []v1alpha.InstanceVolume
	for i := range from {
		volume := from[i].DeepCopy()
		switch {
		case !attachable(volume):
			if len(podfields.Losses(volume, "")) == 0 {
				// The table lists all others.
				c.losef(fmt.Sprintf("%s.volumes[%d]", podPath, i), "cells attach configMap, secret and emptyDir volumes")
			}
			c.leaveOut(volume)
		case !mounted[volume.Name]:
			c.losef(fmt.Sprintf("%s.volumes[%d]", podPath, i), "no container mounts it")
			c.leaveOut(volume)
		default:
			if volume.VolumeSource == (corev1.VolumeSource{}) {
				volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
			}
			target = append(target, v1alpha.InstanceVolume{Name: volume.Name, InstanceVolumeSource: v1alpha.InstanceVolumeSource{
				ConfigMap: volume.ConfigMap, Secret: volume.Secret, EmptyDir: volume.EmptyDir,
			}})
		}
	}
	return target
}
