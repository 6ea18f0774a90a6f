// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// environment returns the variables of a container. They do not include this process's own environment. A variable may
// refer to earlier ones.
func (c *container) environment(folder string) (map[string]string, error) {
	env := map[string]string{
		"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder, "HOSTNAME": c.pod.name.Name,
	}
	if _, err := os.Stat(c.pod.kubeconfig()); err == nil {
		env["KUBECONFIG"] = c.pod.kubeconfig()
	}
	var errs []error
	for _, variable := range c.spec.Env {
		value := expand(variable.Value, env)
		if variable.ValueFrom != nil {
			var err error
			if value, err = c.pod.field(variable.ValueFrom.FieldRef.FieldPath); err != nil {
				errs = append(errs, fmt.Errorf("variable %s: %w", variable.Name, err))
			}
		}
		env[variable.Name] = value
	}
	return env, errors.Join(errs...)
}

var references = regexp.MustCompile(`\$\$|\$\([^)]*\)`)

// expand replaces $(NAME) by the value of a variable, as Kubernetes does in arguments and variables: $$ stands for $,
// and a reference to a variable that does not exist stays.
func expand(input string, env map[string]string) string {
	return references.ReplaceAllStringFunc(input, func(reference string) string {
		if reference == "$$" {
			return "$"
		}
		if value, ok := env[reference[len("$("):len(reference)-len(")")]]; ok {
			return value
		}
		return reference
	})
}

// hostIP is the IP of the node: its Pods run on this machine.
const hostIP = "127.0.0.1"

// field returns the value of a field of the Pod, for a variable or a file of the downward API.
func (p *pod) field(path string) (string, error) {
	switch path {
	case "metadata.name":
		return p.name.Name, nil
	case "metadata.namespace":
		return p.name.Namespace, nil
	case "metadata.uid":
		return string(p.uid), nil
	case "status.podIP":
		return p.address.Local, nil
	}
	return "", fmt.Errorf("field %q of the Pod is not supported on this node", path)
}

func serviceAccount(object *corev1.Pod) string {
	return cmp.Or(object.Spec.ServiceAccountName, "default")
}
