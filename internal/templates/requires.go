// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// holding are the fields of a spec whose absence would let Instances start that may not, by name.
var holding = map[string]func(*v1alpha.WorkloadDeploymentSpec) bool{
	"floor":                 func(s *v1alpha.WorkloadDeploymentSpec) bool { return s.Floor != nil },
	"assignment":            func(s *v1alpha.WorkloadDeploymentSpec) bool { return s.Assignment != nil },
	"instanceTypeResources": func(s *v1alpha.WorkloadDeploymentSpec) bool { return len(s.InstanceTypeResources) > 0 },
	"partition":             func(s *v1alpha.WorkloadDeploymentSpec) bool { return s.Partition != nil },
	"partition.indices": func(s *v1alpha.WorkloadDeploymentSpec) bool {
		return s.Partition != nil && len(s.Partition.Indices) > 0
	},
	"networks":  func(s *v1alpha.WorkloadDeploymentSpec) bool { return s.Networks != nil },
	"quota":     func(s *v1alpha.WorkloadDeploymentSpec) bool { return s.Quota != nil },
	"suspended": func(s *v1alpha.WorkloadDeploymentSpec) bool { return s.Suspended },

	"minReadySeconds": func(s *v1alpha.WorkloadDeploymentSpec) bool {
		return s.MinReadySeconds != nil && *s.MinReadySeconds > 0
	},
	"rollout.maxUnavailable": func(s *v1alpha.WorkloadDeploymentSpec) bool {
		return s.Rollout != nil && s.Rollout.MaxUnavailable != nil
	},
	"scaleSettings.behavior": func(s *v1alpha.WorkloadDeploymentSpec) bool { return s.ScaleSettings.Behavior != nil },
}

// inTemplate are the fields of templates that later versions added, by name. A cell that lacks a field would start an
// Instance that is less restricted than its template requires, or that counts as Ready too soon.
var inTemplate = map[string]func(*v1alpha.InstanceSpec) bool{
	"emptyDir": func(s *v1alpha.InstanceSpec) bool {
		return slices.ContainsFunc(s.Volumes, func(v v1alpha.InstanceVolume) bool { return v.EmptyDir != nil })
	},
	"fieldRef":         ofVariable(func(s *corev1.EnvVarSource) bool { return s.FieldRef != nil }),
	"resourceFieldRef": ofVariable(func(s *corev1.EnvVarSource) bool { return s.ResourceFieldRef != nil }),
	"initContainers":   ofSandbox(func(s *v1alpha.SandboxRuntime) bool { return len(s.InitContainers) > 0 }),
	"lifecycle":        ofContainer(func(c *v1alpha.SandboxContainer) bool { return c.Lifecycle != nil }),
	"livenessProbe":    ofContainer(func(c *v1alpha.SandboxContainer) bool { return c.LivenessProbe != nil }),
	"readinessProbe":   ofContainer(func(c *v1alpha.SandboxContainer) bool { return c.ReadinessProbe != nil }),
	"startupProbe":     ofContainer(func(c *v1alpha.SandboxContainer) bool { return c.StartupProbe != nil }),
	"workingDir":       ofContainer(func(c *v1alpha.SandboxContainer) bool { return c.WorkingDir != "" }),
	"onNodeLoss":       func(s *v1alpha.InstanceSpec) bool { return s.OnNodeLoss == v1alpha.NodeLossWait },
	"readOnly":         ofAttachment(func(a *v1alpha.VolumeAttachment) bool { return a.ReadOnly }),
	"subPath":          ofAttachment(func(a *v1alpha.VolumeAttachment) bool { return a.SubPath != "" }),
	"terminationGracePeriodSeconds": ofSandbox(func(s *v1alpha.SandboxRuntime) bool {
		return s.TerminationGracePeriodSeconds != nil
	}),
	"securityContext":          ofSandbox(func(s *v1alpha.SandboxRuntime) bool { return s.SecurityContext != nil }),
	"containerSecurityContext": ofContainer(func(c *v1alpha.SandboxContainer) bool { return c.SecurityContext != nil }),
}

func init() {
	for name, set := range inTemplate {
		holding["template."+name] = func(s *v1alpha.WorkloadDeploymentSpec) bool {
			return slices.ContainsFunc(s.Templates(), func(t *v1alpha.InstanceTemplateSpec) bool { return set(&t.Spec) })
		}
	}
}

func ofSandbox(set func(*v1alpha.SandboxRuntime) bool) func(*v1alpha.InstanceSpec) bool {
	return func(s *v1alpha.InstanceSpec) bool { return s.Runtime.Sandbox != nil && set(s.Runtime.Sandbox) }
}

func ofContainer(set func(*v1alpha.SandboxContainer) bool) func(*v1alpha.InstanceSpec) bool {
	return func(s *v1alpha.InstanceSpec) bool { return slices.ContainsFunc(s.Runtime.Sandbox.AllContainers(), set) }
}

func ofVariable(set func(*corev1.EnvVarSource) bool) func(*v1alpha.InstanceSpec) bool {
	return ofContainer(func(c *v1alpha.SandboxContainer) bool {
		return slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.ValueFrom != nil && set(v.ValueFrom) })
	})
}

func ofAttachment(set func(*v1alpha.VolumeAttachment) bool) func(*v1alpha.InstanceSpec) bool {
	return ofContainer(func(c *v1alpha.SandboxContainer) bool {
		return slices.ContainsFunc(c.VolumeAttachments, func(a v1alpha.VolumeAttachment) bool { return set(&a) })
	})
}

// Requires is the value of AnnotationRequires for a copy with this spec.
func Requires(s *v1alpha.WorkloadDeploymentSpec) string {
	var names []string
	for name, set := range holding {
		if set(s) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// MissingFields are the fields that AnnotationRequires names and that the deployment does not have, sorted: the CRD of
// its API server is older, or this program does not know them. The result is empty if an earlier version of the hub did
// not write the annotation.
func MissingFields(d *v1alpha.WorkloadDeployment) []string {
	var missing []string
	for name := range strings.SplitSeq(reasons.Shorten(d.Annotations[v1alpha.AnnotationRequires], v1alpha.MaxMessage), ",") {
		if set, known := holding[name]; name != "" && (!known || !set(&d.Spec)) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// Refusal is why a cell starts nothing new for a deployment: its spec is not the one that the hub has sent.
type Refusal struct {
	// Missing are the fields that the hub has set and the cell lacks, and Overridden the fields with another value.
	Missing, Overridden []string
}

// RefusalOf compares the spec of a deployment in a cell with what the hub has written about it.
func RefusalOf(d *v1alpha.WorkloadDeployment) Refusal {
	r := Refusal{Missing: MissingFields(d)}
	r.Overridden = slices.DeleteFunc(OverriddenFields(d), func(name string) bool { return slices.Contains(r.Missing, name) })
	return r
}

// Any reports whether a field is not as the hub has sent it.
func (r *Refusal) Any() bool { return len(r.Missing)+len(r.Overridden) > 0 }

// Of reports whether a field is not as the hub has sent it.
func (r *Refusal) Of(name string) bool {
	return slices.Contains(r.Missing, name) || slices.Contains(r.Overridden, name)
}

// Reason is the reason of conditions.
func (r *Refusal) Reason() string {
	if len(r.Missing) == 0 && len(r.Overridden) > 0 {
		return v1alpha.ReasonFieldsOverridden
	}
	return v1alpha.ReasonFieldsMissing
}

// Message describes the fields and the remedy.
func (r *Refusal) Message() string {
	message := fmt.Sprintf("the cell starts nothing new: it lacks spec.%s of the deployment; upgrade the CRDs and the agent in the cell",
		strings.Join(r.Missing, ", spec."))
	if r.Reason() == v1alpha.ReasonFieldsOverridden {
		message = fmt.Sprintf("the cell starts nothing new: spec.%s of the deployment is not what the hub has sent; remove the field from "+
			"the OverridePolicy or ClusterOverridePolicy, which may change the template only", strings.Join(r.Overridden, ", spec."))
	}
	return reasons.Shorten(message, v1alpha.MaxMessage)
}
