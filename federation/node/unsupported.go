// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// unsupported returns an error that names everything that a Pod asks for and this node does not have. Security contexts and
// resources are not among that: they are accepted, and not enforced.
func unsupported(object *corev1.Pod) error {
	spec := &object.Spec
	var errs []error
	refuse := func(holds bool, field string) {
		if holds {
			errs = append(errs, fmt.Errorf("%s is not supported on this node, which runs Pods as processes", field))
		}
	}
	refuse(spec.HostNetwork, "spec.hostNetwork")
	refuse(spec.HostPID, "spec.hostPID")
	refuse(spec.HostIPC, "spec.hostIPC")
	refuse(spec.ShareProcessNamespace != nil && *spec.ShareProcessNamespace, "spec.shareProcessNamespace")
	refuse(len(spec.HostAliases) > 0, "spec.hostAliases")
	refuse(spec.ActiveDeadlineSeconds != nil, "spec.activeDeadlineSeconds")
	refuse(len(spec.ReadinessGates) > 0, "spec.readinessGates")
	refuse(spec.RuntimeClassName != nil, "spec.runtimeClassName")
	refuse(len(spec.EphemeralContainers) > 0, "spec.ephemeralContainers")
	refuse(len(spec.ResourceClaims) > 0, "spec.resourceClaims")
	for _, volume := range spec.Volumes {
		refuseVolume(refuse, &volume)
	}
	for i := range spec.InitContainers {
		refuseContainer(refuse, &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		refuseContainer(refuse, &spec.Containers[i])
	}
	return errors.Join(errs...)
}

func refuseVolume(refuse func(bool, string), volume *corev1.Volume) {
	v := volume.VolumeSource
	known := v.EmptyDir != nil || v.Secret != nil || v.ConfigMap != nil || v.DownwardAPI != nil || v.Projected != nil
	refuse(!known, fmt.Sprintf("the type of volume %s (%s)", volume.Name, fieldSet(v)))
	if v.Projected == nil {
		return
	}
	for _, source := range v.Projected.Sources {
		known := source.Secret != nil || source.ConfigMap != nil || source.DownwardAPI != nil || source.ServiceAccountToken != nil
		refuse(!known, fmt.Sprintf("the type of a projection of volume %s (%s)", volume.Name, fieldSet(source)))
	}
}

// fieldSet returns the name of the first field of a struct that is not nil.
func fieldSet(object any) string {
	value := reflect.ValueOf(object)
	for i := range value.NumField() {
		if value.Field(i).Kind() == reflect.Pointer && !value.Field(i).IsNil() {
			return value.Type().Field(i).Name
		}
	}
	return "none"
}

func refuseContainer(refuse func(bool, string), c *corev1.Container) {
	of := func(field string) string { return fmt.Sprintf("%s of container %s", field, c.Name) }
	for name, probe := range map[string]*corev1.Probe{
		"startupProbe": c.StartupProbe, "readinessProbe": c.ReadinessProbe, "livenessProbe": c.LivenessProbe,
	} {
		refuse(probe != nil && probe.HTTPGet == nil && probe.TCPSocket == nil, of(name+" by exec or grpc"))
	}
	if l := c.Lifecycle; l != nil {
		refuse(l.PostStart != nil, of("lifecycle.postStart"))
		refuse(l.StopSignal != nil, of("lifecycle.stopSignal"))
		refuse(l.PreStop != nil && l.PreStop.Sleep == nil, of("lifecycle.preStop other than sleep"))
	}
	refuse(c.RestartPolicy != nil, of("restartPolicy"))
	refuse(slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 }), of("hostPort"))
	refuse(c.Stdin || c.TTY, of("stdin or tty"))
	refuse(len(c.VolumeDevices) > 0, of("volumeDevices"))
	refuse(c.WorkingDir != "" && !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		return mounts{{path: m.MountPath, folder: "-"}}.rewrite(c.WorkingDir) != c.WorkingDir
	}), of("workingDir outside of a volume"))
	for _, m := range c.VolumeMounts {
		refuse(m.SubPathExpr != "", of("subPathExpr"))
		refuse(m.MountPath == "/", of("a mount at /"))
	}
}
