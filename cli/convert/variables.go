// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

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
		if name, refers := refersTo(variable.Value, dropped); refers {
			c.losef(path+".value", "refers to %s, which is not carried over: the reference stays as it is written", name)
			// What refers to this one contains that text, too.
			dropped = append(dropped, variable.Name)
		} else if name, refers := refersTo(variable.Value, set); refers {
			c.losef(path+".value", "refers to the value that %s has before it is set again: write the value out", name)
		}
		set = slices.DeleteFunc(set, func(name string) bool { return name == variable.Name })
		target.Env = append(target.Env, corev1.EnvVar{Name: variable.Name, Value: variable.Value, ValueFrom: source})
	}
	for _, list := range textsOf(target) {
		for i, text := range list.texts {
			if name, refers := refersTo(text, dropped); refers {
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
	add := func(name string, action *corev1.ExecAction) {
		if action != nil {
			found = append(found, texts{name + ".exec.command", action.Command})
		}
	}
	for _, probe := range []struct {
		name string
		spec *corev1.Probe
	}{{"readinessProbe", container.ReadinessProbe}, {"livenessProbe", container.LivenessProbe}, {"startupProbe", container.StartupProbe}} {
		if probe.spec != nil {
			add(probe.name, probe.spec.Exec)
		}
	}
	if container.Lifecycle == nil {
		return found
	}
	for _, handler := range []struct {
		name string
		spec *corev1.LifecycleHandler
	}{{"lifecycle.postStart", container.Lifecycle.PostStart}, {"lifecycle.preStop", container.Lifecycle.PreStop}} {
		if handler.spec != nil {
			add(handler.name, handler.spec.Exec)
		}
	}
	return found
}

// referencePattern finds the references to variables in a text, by Kubernetes and by a shell; $$ is an escaped dollar
// sign.
var referencePattern = regexp.MustCompile(`\$\$|\$\(([^()\s]+)\)|\$\{([A-Za-z_][A-Za-z0-9_]*)|\$([A-Za-z_][A-Za-z0-9_]*)`)

// refersTo returns the first of some variables that a text refers to.
func refersTo(text string, names []string) (name string, refers bool) {
	for _, match := range referencePattern.FindAllStringSubmatch(text, -1) {
		if name := match[1] + match[2] + match[3]; slices.Contains(names, name) {
			return name, true
		}
	}
	return "", false
}
