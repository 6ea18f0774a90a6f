// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Warnings name accepted parts of a Workload that will not work well.
func Warnings(workload *v1alpha.Workload) []string {
	var warnings []string
	if sandbox := workload.Spec.Template.Spec.Runtime.Sandbox; sandbox != nil {
		path := field.NewPath("spec", "template", "spec", "runtime", "sandbox")
		ports := &seenPorts{names: map[string]string{}, numbers: map[string]string{}}
		for i, container := range sandbox.AllContainers() {
			at := path.Child("containers").Index(i)
			if init := i - len(sandbox.Containers); init >= 0 {
				at = path.Child("initContainers").Index(init)
			}
			warnings = append(warnings, imageWarnings(at.Child("image"), container.Image)...)
			warnings = append(warnings, probeWarnings(at, container, sandbox)...)
			if i < len(sandbox.Containers) || container.IsSidecar() {
				warnings = append(warnings, ports.warnings(at, container)...)
			}
			warnings = append(warnings, deviceWarnings(at, container)...)
		}
	}
	warnings = append(warnings, annotationWarnings(&workload.Spec.Template)...)
	warnings = append(warnings, labelWarnings(&workload.Spec.Template)...)
	warnings = append(warnings, disruptionWarning(workload)...)
	warnings = append(warnings, surgeWarnings(&workload.Spec)...)
	warnings = append(warnings, serviceWarnings(&workload.Spec)...)
	return append(warnings, placementWarnings(workload.Spec.Placements)...)
}

// annotationDefaultContainer has an effect on commands: `kubectl compute logs` and `exec` read it.
const annotationDefaultContainer = "kubectl.kubernetes.io/default-container"

// deviceWarnings name the devices that a container asks for.
func deviceWarnings(path *field.Path, container *v1alpha.SandboxContainer) []string {
	if container.Resources == nil {
		return nil
	}
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(container.Resources.Limits)) {
		domain, _, qualified := strings.Cut(string(name), "/")
		if qualified && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io") {
			warnings = append(warnings, fmt.Sprintf("%s: the add-on attaches no devices: Instances start only in cells whose nodes offer %s",
				path.Child("resources", "limits").Key(shorten(string(name))), shorten(string(name))))
		}
	}
	return warnings
}

// annotationWarnings name the annotations of a template that may have no effect on the Pods.
func annotationWarnings(template *v1alpha.InstanceTemplateSpec) []string {
	machine := template.Spec.Runtime.VirtualMachine != nil
	var without []string
	for _, key := range slices.Sorted(maps.Keys(template.Annotations)) {
		onPods := !machine && templates.IsPlainAnnotation(key)
		ofMachine := key == annotationSSHKeys && machine
		if key != v1alpha.AnnotationRestartedAt && key != annotationDefaultContainer && !ofMachine && !onPods {
			without = append(without, shorten(key))
		}
	}
	effect := onlyWhereAllowed
	if machine {
		effect = "set on the Instances, with no effect on their virtual machines"
	}
	return withoutEffect("annotations", without, effect)
}

const onlyWhereAllowed = "set on the Instances, and on their Pods only in cells whose operator allows the domain of the key"

// labelWarnings name the labels of a template that Pods may lack.
func labelWarnings(template *v1alpha.InstanceTemplateSpec) []string {
	var without []string
	for _, key := range slices.Sorted(maps.Keys(template.Labels)) {
		if template.Spec.Runtime.VirtualMachine == nil && !templates.IsPlainLabel(key) {
			without = append(without, shorten(key))
		}
	}
	return withoutEffect("labels", without, onlyWhereAllowed)
}

// withoutEffect is the warning about the first of these keys.
func withoutEffect(field string, keys []string, effect string) []string {
	if len(keys) == 0 {
		return nil
	}
	const shownKeys = 3
	text := strings.Join(keys[:min(shownKeys, len(keys))], ", ")
	if more := len(keys) - shownKeys; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("spec.template.metadata.%s: %s: %s", field, text, effect)}
}

// seenPorts are the places of the first ports with a name and with a number, in the containers of an Instance so far.
type seenPorts struct {
	names, numbers map[string]string
}

// warnings name the ports of a container that have the name of a port of another container, or the number of another
// port.
func (s *seenPorts) warnings(path *field.Path, container *v1alpha.SandboxContainer) []string {
	var warnings []string
	for i, port := range container.Ports {
		at := path.Child("ports").Index(i)
		if first, taken := s.names[port.Name]; taken {
			warnings = append(warnings, fmt.Sprintf("%s: port %q is also in %s: network policies that name it mean the first one",
				at.Child("name"), shorten(port.Name), first))
		} else {
			s.names[port.Name] = at.String()
		}
		number := fmt.Sprintf("%d/%s", port.Port, ptr.Deref(port.Protocol, corev1.ProtocolTCP))
		if first, taken := s.numbers[number]; taken {
			warnings = append(warnings, fmt.Sprintf("%s: %s is also in %s: the containers of an Instance share one network",
				at.Child("port"), number, first))
		} else {
			s.numbers[number] = at.String()
		}
	}
	return warnings
}

// probeWarnings name the probed ports that no container names: the probe of a port on which no process listens never
// succeeds.
func probeWarnings(path *field.Path, container *v1alpha.SandboxContainer, sandbox *v1alpha.SandboxRuntime) []string {
	named := map[int32]bool{}
	for _, sandboxContainer := range sandbox.Running() {
		for _, port := range sandboxContainer.Ports {
			named[port.Port] = true
		}
	}
	var warnings []string
	for _, probe := range []struct {
		name string
		spec *corev1.Probe
	}{{"readinessProbe", container.ReadinessProbe}, {"livenessProbe", container.LivenessProbe}, {"startupProbe", container.StartupProbe}} {
		at, port := path.Child(probe.name), int32(0)
		switch {
		case probe.spec == nil:
		case probe.spec.HTTPGet != nil:
			at, port = at.Child("httpGet", "port"), probe.spec.HTTPGet.Port.IntVal
		case probe.spec.TCPSocket != nil:
			at, port = at.Child("tcpSocket", "port"), probe.spec.TCPSocket.Port.IntVal
		case probe.spec.GRPC != nil:
			at, port = at.Child("grpc", "port"), probe.spec.GRPC.Port
		}
		if port != 0 && !named[port] {
			warnings = append(warnings, fmt.Sprintf("%s: no container has port %d in ports: the probe fails unless one listens there", at, port))
		}
	}
	return warnings
}

func imageWarnings(path *field.Path, text string) []string {
	parsed, ok := parseImage(text)
	if !ok {
		return nil
	}
	var warnings []string
	if parsed.host == "" {
		warnings = append(warnings, fmt.Sprintf("%s: %q names no registry: cells may pull it from different ones", path, text))
	}
	switch {
	case parsed.digest != "":
	case parsed.tag == "":
		warnings = append(warnings, fmt.Sprintf("%s: %q has no tag and no digest: Instances may run different images", path, text))
	case parsed.tag == "latest":
		warnings = append(warnings, fmt.Sprintf("%s: %q has tag latest: Instances may run different images", path, text))
	}
	return warnings
}

// surgeWarnings name the placements in which maxSurge has no effect.
func surgeWarnings(spec *v1alpha.WorkloadSpec) []string {
	if limit, _ := spec.Rollout.Surge(1); limit == 0 {
		return nil
	}
	var warnings []string
	for i := range spec.Placements {
		deployment := v1alpha.WorkloadDeploymentSpec{ScaleSettings: spec.Placements[i].ScaleSettings}
		if deployment.Autoscaled() {
			warnings = append(warnings,
				fmt.Sprintf("spec.rollout.maxSurge: has no effect on spec.placements[%d], whose Instances metrics scale: set its "+
					"minReplicas to at least 2", i))
		}
	}
	return warnings
}

func placementWarnings(placements []v1alpha.WorkloadPlacement) []string {
	var warnings []string
	first := map[string]int{}
	for i := range placements {
		path := field.NewPath("spec", "placements").Index(i)
		scale := &placements[i].ScaleSettings
		if len(scale.Metrics) > 0 && scale.MaxReplicas != nil && *scale.MaxReplicas == scale.MinReplicas {
			warnings = append(warnings, fmt.Sprintf("%s: equals minReplicas: metrics have no effect",
				path.Child("scaleSettings", "maxReplicas")))
		}
		for j, code := range placements[i].CityCodes {
			upper := strings.ToUpper(code)
			other, ok := first[upper]
			if !ok {
				first[upper] = i
			} else if other != i {
				warnings = append(warnings, fmt.Sprintf("%s: placement %q has city %q too: both run Instances there",
					path.Child("cityCodes").Index(j), shorten(placements[other].Name), shorten(code)))
			}
		}
	}
	return warnings
}
