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
func (c *conversion) variables(to *v1alpha.SandboxContainer, from []corev1.EnvVar, path string) {
	last := map[string]int{}
	for i, variable := range from {
		last[variable.Name] = i
	}
	var dropped []string
	for i, variable := range from {
		path := fmt.Sprintf("%s.env[%d]", path, i)
		if last[variable.Name] != i {
			c.losef(path, "%s is set again, and the last value counts", variable.Name)
			continue
		}
		source, ok := c.source(variable.ValueFrom, path+".valueFrom")
		if !ok {
			dropped = append(dropped, variable.Name)
			continue
		}
		if name, refers := refersTo(variable.Value, dropped); refers {
			c.losef(path+".value", "refers to %s, which is not carried over: the text $(%s) stays", name, name)
			// What refers to this one contains that text, too.
			dropped = append(dropped, variable.Name)
		}
		to.Env = append(to.Env, corev1.EnvVar{Name: variable.Name, Value: variable.Value, ValueFrom: source})
	}
	for _, list := range []struct {
		name  string
		texts []string
	}{{"command", to.Command}, {"args", to.Args}} {
		for i, text := range list.texts {
			if name, refers := refersTo(text, dropped); refers {
				c.losef(fmt.Sprintf("%s.%s[%d]", path, list.name, i), "refers to %s, which is not carried over or contains what is not", name)
			}
		}
	}
}

// referencePattern finds the references to variables in a text; $$ is an escaped dollar sign.
var referencePattern = regexp.MustCompile(`\$\$|\$\(([^()\s]+)\)`)

// refersTo returns the first of some variables that a text refers to.
func refersTo(text string, names []string) (name string, refers bool) {
	for _, match := range referencePattern.FindAllStringSubmatch(text, -1) {
		if slices.Contains(names, match[1]) {
			return match[1], true
		}
	}
	return "", false
}
