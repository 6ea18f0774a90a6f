// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// variables are environment variables in the order in which they were set.
type variables struct {
	names  []string
	values map[string]string
}

func (v *variables) set(name, value string) {
	if _, ok := v.values[name]; !ok {
		v.names = append(v.names, name)
	}
	v.values[name] = value
}

func (v *variables) get(name string) (string, bool) {
	value, ok := v.values[name]
	return value, ok
}

// list returns the variables of a process, with folders in place of mount paths.
func (v *variables) list(m mounts) []string {
	list := make([]string, 0, len(v.names))
	for _, name := range v.names {
		list = append(list, name+"="+m.rewrite(v.values[name]))
	}
	return list
}

// environment returns the variables of a container: the base variables, the variables of envFrom, and the variables of env, which
// may refer to earlier ones.
func (p *pod) environment(spec *corev1.Container, base *variables) (*variables, error) {
	var errs []error
	for _, from := range spec.EnvFrom {
		errs = append(errs, p.setFrom(base, from))
	}
	for _, variable := range spec.Env {
		value, ok := expand(variable.Value, base.get), true
		if variable.ValueFrom != nil {
			var err error
			if value, ok, err = p.valueFrom(variable.ValueFrom, spec.Name); err != nil {
				errs = append(errs, fmt.Errorf("variable %s: %w", variable.Name, err))
			}
		}
		if ok {
			base.set(variable.Name, value)
		}
	}
	return base, errors.Join(errs...)
}

// baseVariables returns the variables that every container has. They do not include this process's own environment.
func (p *pod) baseVariables(folder string, m mounts) *variables {
	v := &variables{values: map[string]string{}}
	v.set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	v.set("HOME", folder)
	v.set("HOSTNAME", p.name.Name)
	server := p.node.server
	port := server.Port()
	if port == "" {
		port = "443"
	}
	v.set("KUBERNETES_SERVICE_HOST", server.Hostname())
	v.set("KUBERNETES_SERVICE_PORT", port)
	v.set("KUBERNETES_PORT", "tcp://"+net.JoinHostPort(server.Hostname(), port))
	if slices.ContainsFunc(m, func(one mount) bool { return one.path == "/tmp" }) {
		v.set("TMPDIR", "/tmp") // becomes the folder, as every mount path does
	}
	if _, err := os.Stat(p.kubeconfig()); err == nil {
		v.set("KUBECONFIG", p.kubeconfig())
	}
	return v
}

// setFrom sets a variable for each key of a ConfigMap or Secret.
func (p *pod) setFrom(v *variables, from corev1.EnvFromSource) error {
	var data payload
	var err error
	switch {
	case from.ConfigMapRef != nil:
		data, err = p.sources.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	case from.SecretRef != nil:
		data, err = p.sources.secret(from.SecretRef.Name, from.SecretRef.Optional)
	}
	for _, key := range data.names() {
		v.set(from.Prefix+key, string(data[key].content))
	}
	return err
}

// valueFrom returns the value of a variable from its source, and whether the source has a value.
func (p *pod) valueFrom(source *corev1.EnvVarSource, container string) (string, bool, error) {
	switch {
	case source.FieldRef != nil:
		value, err := p.field(source.FieldRef.FieldPath)
		return value, true, err
	case source.ResourceFieldRef != nil:
		value, err := p.resource(source.ResourceFieldRef, container)
		return value, true, err
	case source.ConfigMapKeyRef != nil:
		ref := source.ConfigMapKeyRef
		data, err := p.sources.configMap(ref.Name, ref.Optional)
		return valueOf(data, ref.Key, ref.Optional, err)
	case source.SecretKeyRef != nil:
		ref := source.SecretKeyRef
		data, err := p.sources.secret(ref.Name, ref.Optional)
		return valueOf(data, ref.Key, ref.Optional, err)
	}
	return "", false, errors.New("its source is not supported on this node: use a field, a resource, a ConfigMap or a Secret")
}

func valueOf(data payload, key string, optional *bool, err error) (string, bool, error) {
	if err != nil {
		return "", false, err
	}
	f, ok := data[key]
	if !ok && (optional == nil || !*optional) {
		return "", false, fmt.Errorf("there is no key %q", key)
	}
	return string(f.content), ok, nil
}
