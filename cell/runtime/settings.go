// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Settings configure how this cell runs Pods. A change applies to Pods that are created after it.
type Settings struct {
	// RuntimeClass is the RuntimeClass of Pods whose template names no class; "": the cluster's default.
	RuntimeClass string
	// RuntimeClasses are the RuntimeClasses of the classes that templates may name. Other classes are not served here.
	RuntimeClasses map[string]string
	// ExternalClasses are classes that templates may name and that another runtime in this cell runs: the agent creates no
	// Pods for their Instances, lifts their gates and reports the open gates. docs/how-to/external-runtime.md is the
	// contract with that runtime.
	ExternalClasses []string
	// Capabilities are the capabilities that containers keep; all others are dropped.
	Capabilities []corev1.Capability
	// PodAnnotations are the domains of the annotations and labels of templates that are copied to Pods, in addition to
	// keys without a domain. Runtimes, network plugins and admission of a cell read annotations: a consumer could use them
	// to weaken the isolation of Pods.
	PodAnnotations []string
	// EphemeralStorage limits the local disk of a container, logs included, if it does not set its own limit; zero: no
	// limit. Without a limit, a container could fill the disk of its node.
	EphemeralStorage resource.Quantity
	// NodeLossAfter is the time, to the second, for which a node may not respond, or not be ready, before Kubernetes
	// evicts the Pods of its Instances. Pods of Instances that wait for their node are never evicted for that.
	NodeLossAfter time.Duration
	// WithoutSleep says that the API server of the cell does not serve the handler sleep of preStop: before 1.29 it refuses each Pod
	// that has it.
	WithoutSleep bool
}

// sleepServed is the first version of Kubernetes that serves the handler sleep without a feature gate.
var sleepServed = version.MajorMinor(1, 30)

// AdaptTo leaves out of Pods what an API server of a version such as v1.28.3 does not serve.
func (s *Settings) AdaptTo(served string) error {
	parsed, err := version.ParseGeneric(served)
	if err != nil {
		return fmt.Errorf("read the version of the cell's API server: %w", err)
	}
	s.WithoutSleep = parsed.LessThan(sleepServed)
	return nil
}

// runtimeClass is the RuntimeClass for a template; ok is false when this cell does not serve the class.
func (s *Settings) runtimeClass(spec *v1alpha.InstanceSpec) (name *string, ok bool) {
	mapped, served := s.RuntimeClass, true
	if class := spec.Runtime.Class; class != "" {
		mapped, served = s.RuntimeClasses[class]
	}
	if mapped == "" {
		return nil, served
	}
	return &mapped, served
}

// External reports whether another runtime runs a template.
func (s *Settings) External(spec *v1alpha.InstanceSpec) bool {
	return spec.Runtime.Class != "" && slices.Contains(s.ExternalClasses, spec.Runtime.Class)
}

// unsupported returns the part of spec that this cell cannot run; nil if it can run all of it.
func (s *Settings) unsupported(spec *v1alpha.InstanceSpec) *finding {
	if spec.Runtime.Sandbox == nil {
		return &finding{v1alpha.ReasonConfigurationError, "this cell runs sandboxes only; use spec.runtime.sandbox in the template"}
	}
	for i := range spec.Volumes {
		if spec.Volumes[i].Disk != nil {
			return &finding{v1alpha.ReasonConfigurationError, fmt.Sprintf(
				"volume %s is a disk, and a sandbox of this cell attaches configMap, secret and emptyDir volumes only", spec.Volumes[i].Name)}
		}
	}
	for i := range spec.NetworkInterfaces {
		if message := unsupportedInterface(&spec.NetworkInterfaces[i]); message != "" {
			return &finding{v1alpha.ReasonConfigurationError, message}
		}
	}
	if message := unsupportedInContainers(spec.Runtime.Sandbox); message != "" {
		return &finding{v1alpha.ReasonConfigurationError, message}
	}
	if _, served := s.runtimeClass(spec); !served {
		have := "none but the default, for templates that name no class"
		if classes := append(slices.Collect(maps.Keys(s.RuntimeClasses)), s.ExternalClasses...); len(classes) > 0 {
			slices.Sort(classes)
			have = strings.Join(classes, ", ")
		}
		return &finding{
			v1alpha.ReasonRuntimeClassNotServed, fmt.Sprintf("this cell does not serve spec.runtime.class %q; it serves %s",
				spec.Runtime.Class, have),
		}
	}
	return nil
}

// unsupportedInterface covers fields that admission refuses, for templates that it did not see.
func unsupportedInterface(face *v1alpha.InstanceNetworkInterface) string {
	switch {
	case face.Name != "" && face.Name != v1alpha.InterfaceName:
		return fmt.Sprintf("network interface %s: the interface of a sandbox is %s", face.Name, v1alpha.InterfaceName)
	case len(face.IPFamilies) > 0:
		return "networkInterfaces[].ipFamilies is not supported: a sandbox has the addresses that the cell gives it"
	case len(face.Addresses) > 0:
		return "networkInterfaces[].addresses is not supported: a sandbox has the addresses that the cell gives it"
	case face.ReclaimPolicy != "":
		return "networkInterfaces[].reclaimPolicy is not supported: the address of a sandbox goes with it"
	}
	return ""
}

// notHonoured returns the part of spec that has no effect on the Pod; "" if all of it has.
func notHonoured(spec *v1alpha.InstanceSpec) string {
	if more := len(spec.NetworkInterfaces) - 1; more > 0 {
		return fmt.Sprintf("a Pod has one network: networkInterfaces[1] and what follows it, %d in all, and their policies have no effect", more)
	}
	return ""
}

// secure sets the fields that isolate a Pod from its node and from other Pods there, and the further restrictions of
// the template.
func (s *Settings) secure(spec *corev1.PodSpec, sandbox *v1alpha.SandboxRuntime) {
	spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	if wanted := sandbox.SecurityContext.DeepCopy(); wanted != nil {
		spec.SecurityContext.RunAsUser, spec.SecurityContext.RunAsGroup = wanted.RunAsUser, wanted.RunAsGroup
		spec.SecurityContext.RunAsNonRoot, spec.SecurityContext.FSGroup = wanted.RunAsNonRoot, wanted.FSGroup
	}
	wanted := sandbox.AllContainers()
	for i, container := range podContainers(spec) {
		context := &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: slices.Clone(s.Capabilities)},
		}
		if own := wanted[i].SecurityContext.DeepCopy(); own != nil {
			context.RunAsUser, context.RunAsGroup = own.RunAsUser, own.RunAsGroup
			context.RunAsNonRoot, context.ReadOnlyRootFilesystem = own.RunAsNonRoot, own.ReadOnlyRootFilesystem
		}
		container.SecurityContext = context
		s.boundDisk(&container.Resources)
	}
}

// boundDisk limits the local disk of a container without a limit of its own. Without a request, it sets one of zero:
// Kubernetes would use the limit as the request, and no node could run many Pods.
func (s *Settings) boundDisk(resources *corev1.ResourceRequirements) {
	if s.EphemeralStorage.IsZero() {
		return
	}
	if _, limited := resources.Limits[corev1.ResourceEphemeralStorage]; limited {
		return
	}
	resources.Requests, resources.Limits = orEmpty(resources.Requests), orEmpty(resources.Limits)
	limit, request := s.EphemeralStorage.DeepCopy(), resources.Requests[corev1.ResourceEphemeralStorage]
	if request.Cmp(limit) > 0 {
		limit = request.DeepCopy()
	}
	resources.Requests[corev1.ResourceEphemeralStorage] = request
	resources.Limits[corev1.ResourceEphemeralStorage] = limit
}

func orEmpty(list corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return corev1.ResourceList{}
	}
	return list
}
