// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// podAnnotations are the annotations of a template that its Pods have.
func (s *Settings) podAnnotations(template map[string]string) map[string]string {
	var result map[string]string
	for key, value := range template {
		domain, _, _ := strings.Cut(key, "/")
		if !templates.IsPlainAnnotation(key) && !slices.Contains(s.PodAnnotations, domain) {
			continue
		}
		if result == nil {
			result = map[string]string{}
		}
		result[key] = value
	}
	return result
}

// podLabels are the labels of an Instance that its Pods have: the add-on's own labels, and labels of the template as
// its annotations. Admission and plugins of a cell go by labels, too.
func (s *Settings) podLabels(instance map[string]string) map[string]string {
	result := map[string]string{}
	for key, value := range instance {
		domain, _, _ := strings.Cut(key, "/")
		if templates.IsPlainLabel(key) || slices.Contains(ownDomains, domain) || slices.Contains(s.PodAnnotations, domain) {
			result[key] = value
		}
	}
	return result
}

// ownDomains are the domains of labels that the add-on gives Instances.
var ownDomains = []string{v1alpha.GroupVersion.Group, "meta.datumapis.com", "topology.datum.net"}

// resolveFields sets the value of variables that refer to a field of the Instance, if the Pod's field has another
// value: the Pod's namespace is the hub namespace, and it has more labels than the Instance. Kubernetes resolves
// addresses and annotations.
func resolveFields(pod *corev1.PodSpec, instance *v1alpha.Instance, deployment *v1alpha.WorkloadDeployment) {
	for _, container := range podContainers(pod) {
		for i := range container.Env {
			variable := &container.Env[i]
			if variable.ValueFrom == nil || variable.ValueFrom.FieldRef == nil {
				continue
			}
			if value, resolved := fieldValue(variable.ValueFrom.FieldRef.FieldPath, instance, deployment); resolved {
				variable.Value, variable.ValueFrom = value, nil
			}
		}
	}
}

func fieldValue(path string, instance *v1alpha.Instance, deployment *v1alpha.WorkloadDeployment) (value string, resolved bool) {
	field, key, _ := templates.SplitFieldPath(path)
	switch {
	case field == templates.FieldName:
		return instance.Name, true
	case field == templates.FieldNamespace:
		// A deployment of no project is in the namespace of its Workload.
		return cmp.Or(deployment.Labels[v1alpha.LabelProjectNamespace], deployment.Namespace), true
	case field == templates.FieldLabels:
		return instance.Labels[key], true
	case field == templates.FieldAnnotations && key == v1alpha.AnnotationProjectName:
		return deployment.Annotations[v1alpha.AnnotationProjectName], true
	default:
		return "", false
	}
}

// unsupportedInContainers covers fields that admission refuses, for templates that it did not see: fields that would
// show a container its node, or let the node call another host.
func unsupportedInContainers(sandbox *v1alpha.SandboxRuntime) string {
	for _, container := range sandbox.AllContainers() {
		for i := range container.Env {
			source := container.Env[i].ValueFrom
			if source == nil || source.FieldRef == nil {
				continue
			}
			if _, _, known := templates.SplitFieldPath(source.FieldRef.FieldPath); !known {
				return fmt.Sprintf("container %s: variable %s: valueFrom.fieldRef supports %s", container.Name, container.Env[i].Name,
					strings.Join(templates.FieldPaths, ", "))
			}
		}
		for _, host := range calledHosts(container) {
			if host != "" {
				return fmt.Sprintf("container %s: host in a probe or in lifecycle is not supported: a node calls the Instance itself only",
					container.Name)
			}
		}
	}
	return ""
}

// calledHosts are the hosts in the probes and the lifecycle of a container.
func calledHosts(container *v1alpha.SandboxContainer) []string {
	var hosts []string
	for _, probe := range []*corev1.Probe{container.ReadinessProbe, container.LivenessProbe, container.StartupProbe} {
		if probe != nil && probe.HTTPGet != nil {
			hosts = append(hosts, probe.HTTPGet.Host)
		}
		if probe != nil && probe.TCPSocket != nil {
			hosts = append(hosts, probe.TCPSocket.Host)
		}
	}
	if container.Lifecycle == nil {
		return hosts
	}
	for _, handler := range []*corev1.LifecycleHandler{container.Lifecycle.PostStart, container.Lifecycle.PreStop} {
		if handler != nil && handler.HTTPGet != nil {
			hosts = append(hosts, handler.HTTPGet.Host)
		}
		if handler != nil && handler.TCPSocket != nil {
			hosts = append(hosts, handler.TCPSocket.Host)
		}
	}
	return hosts
}
