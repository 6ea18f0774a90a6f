// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func (p *problems) sandbox(at place, sandbox *v1alpha.SandboxRuntime, volumes *volumes) {
	containers := at.child("containers")
	if len(sandbox.Containers) == 0 {
		p.required(containers, "must have at least one container")
	}
	names, ports := sets.New[string](), newPortRules()
	for i := range sandbox.Containers {
		container := &sandbox.Containers[i]
		item := containers.item(i, container.Name)
		p.label(item.child("name"), container.Name)
		p.unique(item.child("name"), names, container.Name)
		p.image(item.child("image"), container.Image)
		p.arguments(item.child("command"), container.Command)
		p.arguments(item.child("args"), container.Args)
		p.env(item.child("env"), container.Env)
		p.envFrom(item.child("envFrom"), container.EnvFrom)
		p.containerResources(item.child("resources"), container.Resources)
		p.mounts(item.child("volumeAttachments"), container.VolumeAttachments, volumes)
		ports.check(p, item.child("ports"), container.Ports)
	}
	secrets := sets.New[string]()
	for i, secret := range sandbox.ImagePullSecrets {
		item := at.child("imagePullSecrets").item(i, secret.Name).child("name")
		p.subdomain(item, secret.Name)
		p.unique(item, secrets, secret.Name)
	}
}

func (p *problems) image(at place, text string) {
	if text == "" {
		p.required(at, "must name an image")
		return
	}
	if _, ok := parseImage(text); !ok {
		p.invalid(at, text, "must be an image, for example docker.io/library/nginx:1.27")
	}
}

func (p *problems) arguments(at place, arguments []string) {
	for i, argument := range arguments {
		p.text(at.item(i, ""), argument)
	}
}

// text requires that the kernel can take a text: for it, a NUL ends the text, and a runtime refuses to start such a container. The text is
// not shown, because it may be secret.
func (p *problems) text(at place, text string) {
	if strings.Contains(text, "\x00") {
		p.hidden(at, text, "must not contain a NUL character: no container can be started with it", "")
	}
}

func (p *problems) env(at place, env []corev1.EnvVar) {
	names := sets.New[string]()
	for i := range env {
		variable := &env[i]
		item := at.item(i, variable.Name)
		if variable.Name == "" {
			p.required(item.child("name"), "must name a variable")
		} else {
			p.messages(item.child("name"), variable.Name, validation.IsRelaxedEnvVarName(variable.Name))
		}
		p.unique(item.child("name"), names, variable.Name)
		p.text(item.child("value"), variable.Value)
		if variable.ValueFrom == nil {
			continue
		}
		if variable.Value != "" {
			p.forbidden(item.child("valueFrom"), variable.Value, "may not be set together with value")
		}
		p.valueFrom(item.child("valueFrom"), variable.ValueFrom)
	}
}

func (p *problems) envFrom(at place, sources []corev1.EnvFromSource) {
	for i := range sources {
		source := &sources[i]
		item := at.item(i, "")
		if source.Prefix != "" {
			p.messages(item.child("prefix"), source.Prefix, validation.IsRelaxedEnvVarName(source.Prefix))
		}
		switch {
		case source.ConfigMapRef == nil && source.SecretRef == nil:
			p.required(item, "must have exactly one of configMapRef and secretRef")
		case source.ConfigMapRef != nil && source.SecretRef != nil:
			p.forbidden(item.child("secretRef"), source.SecretRef.String(), "must have exactly one of configMapRef and secretRef")
		}
		if ref := source.ConfigMapRef; ref != nil {
			p.subdomain(item.child("configMapRef", "name"), ref.Name)
		}
		if ref := source.SecretRef; ref != nil {
			p.subdomain(item.child("secretRef", "name"), ref.Name)
		}
	}
}

func (p *problems) valueFrom(at place, source *corev1.EnvVarSource) {
	const only = "only configMapKeyRef and secretKeyRef are supported"
	if source.FieldRef != nil {
		p.forbidden(at.child("fieldRef"), source.FieldRef.String(), only)
	}
	if source.ResourceFieldRef != nil {
		p.forbidden(at.child("resourceFieldRef"), source.ResourceFieldRef.ContainerName+"/"+source.ResourceFieldRef.Resource, only)
	}
	if source.FileKeyRef != nil {
		p.forbidden(at.child("fileKeyRef"), source.FileKeyRef.String(), only)
	}
	if *source == (corev1.EnvVarSource{}) {
		p.required(at, "must have exactly one of configMapKeyRef and secretKeyRef")
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		p.keyRef(at.child("configMapKeyRef"), ref.Name, ref.Key)
	}
	if ref := source.SecretKeyRef; ref != nil {
		if source.ConfigMapKeyRef != nil {
			p.forbidden(at.child("secretKeyRef"), ref.String(), "must have exactly one of configMapKeyRef and secretKeyRef")
		}
		p.keyRef(at.child("secretKeyRef"), ref.Name, ref.Key)
	}
}

func (p *problems) keyRef(at place, name, key string) {
	p.subdomain(at.child("name"), name)
	p.dataKey(at.child("key"), key)
}

// dataKey requires a valid key of a ConfigMap or Secret.
func (p *problems) dataKey(at place, key string) {
	if key == "" {
		p.required(at, "must name a key")
		return
	}
	p.messages(at, key, validation.IsConfigMapKey(key))
}

func (p *problems) containerResources(at place, resources *v1alpha.ContainerResourceRequirements) {
	if resources == nil {
		return
	}
	p.quantities(at.child("limits"), resources.Limits)
	p.quantities(at.child("requests"), resources.Requests)
	for _, name := range slices.Sorted(maps.Keys(resources.Requests)) {
		request := resources.Requests[name].DeepCopy()
		limit, limited := resources.Limits[name]
		if limit = limit.DeepCopy(); limited && countable(request) && countable(limit) && request.Cmp(limit) > 0 {
			p.invalid(at.child("requests").entry(string(name)), request.String(), "must be at most the limit "+limit.String())
		}
	}
}

// limitsSum requires the sum of the containers' limits to equal the size of the Instance, for each resource for which the
// Instance has a size and every container a limit.
func (p *problems) limitsSum(at place, requests corev1.ResourceList, containers []v1alpha.SandboxContainer) {
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		sum, ok := sumLimits(name, containers)
		if size := requests[name].DeepCopy(); ok && countable(size) && sum.Cmp(size) != 0 {
			p.invalid(at.entry(string(name)), size.String(), "must be the sum of the containers' limits, "+sum.String())
		}
	}
}

func sumLimits(name corev1.ResourceName, containers []v1alpha.SandboxContainer) (resource.Quantity, bool) {
	var sum resource.Quantity
	for i := range containers {
		if containers[i].Resources == nil {
			return sum, false
		}
		limit, ok := containers[i].Resources.Limits[name]
		if !ok || !countable(limit) {
			return sum, false
		}
		// Copied, because arithmetic on a Quantity may change its operand.
		sum.Add(limit.DeepCopy())
	}
	return sum, len(containers) > 0
}
