// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// variables gives a container its variables. Of several with one name the last one counts, as in Kubernetes. What
// refers to a variable that is left out is listed: Kubernetes leaves such a reference as it is written.
func (c *conversion) variables(target *v1alpha.SandboxContainer, from []corev1.EnvVar, path string) {
	last := map[string]int{}
	for i, variable := range from {
		last[variable.Name] = i
	}
	var dropped, set []string
	for i, variable := range from {
		path := fmt.Sprintf("%s.env[%d]", path, i)
		if last[variable.Name] != i {
			c.losef(path, "%s is set again, and the last value counts", variable.Name)
			set = append(set, variable.Name)
			continue
		}
		source, ok := c.source(variable.ValueFrom, path+".valueFrom")
		if !ok {
			dropped = append(dropped, variable.Name)
			continue
		}
		gone := refersTo(variable.Value, dropped)
		for _, name := range gone {
			c.losef(path+".value", "refers to %s, which is not carried over: the reference stays as it is written", name)
		}
		for _, name := range refersTo(variable.Value, set) {
			c.losef(path+".value", "refers to the value that %s has before it is set again: write the value out", name)
		}
		if len(gone) > 0 {
			// What refers to this one contains that text, too.
			dropped = append(dropped, variable.Name)
		}
		set = slices.DeleteFunc(set, func(name string) bool { return name == variable.Name })
		target.Env = append(target.Env, corev1.EnvVar{Name: variable.Name, Value: variable.Value, ValueFrom: source})
	}
	for _, list := range textsOf(target) {
		for i, text := range list.texts {
			for _, name := range refersTo(text, dropped) {
				c.losef(fmt.Sprintf("%s.%s[%d]", path, list.name, i), "refers to %s, which is not carried over or contains what is not", name)
			}
		}
	}
}

// texts are a list of texts of a container, such as its arguments.
type texts struct {
	name  string
	texts []string
}

// textsOf are the texts of a container that a runtime or a shell expands.
func textsOf(container *v1alpha.SandboxContainer) []texts {
	found := []texts{{"command", container.Command}, {"args", container.Args}}
	lifecycle := ptr.Deref(container.Lifecycle, corev1.Lifecycle{})
	for _, action := range []struct {
		name string
		exec *corev1.ExecAction
	}{
		{"readinessProbe", ptr.Deref(container.ReadinessProbe, corev1.Probe{}).Exec},
		{"livenessProbe", ptr.Deref(container.LivenessProbe, corev1.Probe{}).Exec},
		{"startupProbe", ptr.Deref(container.StartupProbe, corev1.Probe{}).Exec},
		{"lifecycle.postStart", ptr.Deref(lifecycle.PostStart, corev1.LifecycleHandler{}).Exec},
		{"lifecycle.preStop", ptr.Deref(lifecycle.PreStop, corev1.LifecycleHandler{}).Exec},
	} {
		if action.exec != nil {
			found = append(found, texts{action.name + ".exec.command", action.exec.Command})
		}
	}
	return found
}

// referencePattern finds the references to variables in a text, by Kubernetes and by a shell; $$ is an escaped dollar
// sign.
var referencePattern = regexp.MustCompile(`\$\$|\$\(([^()\s]+)\)|\$\{([A-Za-z_][A-Za-z0-9_]*)|\$([A-Za-z_][A-Za-z0-9_]*)`)

// refersTo returns the variables, of some, that a text refers to.
func refersTo(text string, names []string) []string {
	var found []string
	for _, match := range referencePattern.FindAllStringSubmatch(text, -1) {
		if name := match[1] + match[2] + match[3]; slices.Contains(names, name) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}
