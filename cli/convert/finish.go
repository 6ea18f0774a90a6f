// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"regexp"

	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// finish lists what must be edited before admission takes the Workload, by admission's own rules, and the variables and
// arguments that name a Service of the input, which no cell has.
func (c *converted) finish(objects []source) {
	for _, problem := range validation.Workload(c.workload, nil) {
		c.losef("", "admission refuses the Workload until you edit %s", problem)
	}
	for _, object := range objects {
		if object.GetKind() == "Service" && object.GetAPIVersion() == "v1" && object.GetName() != "" {
			c.namesService(object.GetName())
		}
	}
}

// namesService lists where a container names a host.
func (c *converted) namesService(name string) {
	host := regexp.MustCompile(`(^|[/@=,;\s"'])` + regexp.QuoteMeta(name) + `([.:/,;\s"']|$)`)
	sandbox := c.workload.Spec.Template.Spec.Runtime.Sandbox
	for _, container := range sandbox.AllContainers() {
		lose := func(what string) {
			c.losef("", "%s of container %s names Service %s, which no cell has", what, container.Name, name)
		}
		for _, variable := range container.Env {
			if host.MatchString(variable.Value) {
				lose("variable " + variable.Name)
			}
		}
		for i, argument := range container.Args {
			if host.MatchString(argument) {
				lose(fmt.Sprintf("args[%d]", i))
			}
		}
	}
}
