// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Fields that this node has, or that other parts of Kubernetes read, or that are accepted and not enforced.
var (
	podFields = []string{
		"volumes", "containers", "terminationGracePeriodSeconds", "serviceAccountName", "serviceAccount",
		"automountServiceAccountToken", "nodeName",
		"nodeSelector", "affinity", "schedulerName", "tolerations", "topologySpreadConstraints", "priorityClassName",
		"priority", "preemptionPolicy",
		"restartPolicy", "resources", "dnsPolicy", "enableServiceLinks", "securityContext", "imagePullSecrets",
	}
	containerFields = []string{
		"name", "image", "args", "ports", "env", "volumeMounts", "livenessProbe", "readinessProbe",
		"resources", "resizePolicy", "securityContext", "imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy",
	}
)

// unsupported returns an error that names everything that a Pod asks for and this node does not have.
func unsupported(object *corev1.Pod) error {
	var r refusal
	r.others("spec", object.Spec, podFields...)
	if policy := object.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		r = append(r, fmt.Errorf("spec.restartPolicy %s is not supported on this node", policy))
	}
	for _, volume := range object.Spec.Volumes {
		path := fmt.Sprintf("spec.volumes[%s]", volume.Name)
		r.others(path, volume.VolumeSource, "secret", "configMap", "projected")
		parts, _ := projections(&volume)
		for _, part := range parts {
			r.others(path+".sources", part, "secret", "configMap", "downwardAPI", "serviceAccountToken")
			if part.DownwardAPI == nil {
				continue
			}
			for _, item := range part.DownwardAPI.Items {
				r.others(path+".sources.downwardAPI", item, "path", "fieldRef")
			}
		}
	}
	for i := range object.Spec.Containers {
		r.container(&object.Spec.Containers[i])
	}
	return errors.Join(r...)
}

// refusal has an error for each field that the node does not have.
type refusal []error

// others refuses the fields of a struct that are set, except the known ones.
func (r *refusal) others(path string, object any, known ...string) {
	value := reflect.ValueOf(object)
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		if name != "" && !value.Field(i).IsZero() && !slices.Contains(known, name) {
			*r = append(*r, fmt.Errorf("%s.%s is not supported on this node, which runs Pods as processes", path, name))
		}
	}
}

func (r *refusal) container(c *corev1.Container) {
	path := fmt.Sprintf("spec.containers[%s]", c.Name)
	r.others(path, *c, containerFields...)
	for _, variable := range c.Env {
		if variable.ValueFrom != nil {
			r.others(fmt.Sprintf("%s.env[%s].valueFrom", path, variable.Name), *variable.ValueFrom, "fieldRef")
		}
	}
	for _, m := range c.VolumeMounts {
		r.others(fmt.Sprintf("%s.volumeMounts[%s]", path, m.Name), m, "name", "mountPath", "readOnly")
	}
	for _, port := range c.Ports {
		r.others(fmt.Sprintf("%s.ports[%s]", path, port.Name), port, "name", "containerPort", "protocol")
	}
	for name, probe := range map[string]*corev1.Probe{"readinessProbe": c.ReadinessProbe, "livenessProbe": c.LivenessProbe} {
		if probe != nil {
			r.others(path+"."+name, probe.ProbeHandler, "httpGet")
		}
	}
}
