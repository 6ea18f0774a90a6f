// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// sandboxRules are the rules that the containers of one sandbox share.
type sandboxRules struct {
	sandbox *v1alpha.SandboxRuntime
	volumes *volumes
	// all are the names of the sandbox's containers, and names the containers validated so far.
	all, names sets.Set[string]
}

func (p *problems) sandbox(at place, sandbox *v1alpha.SandboxRuntime, volumes *volumes) {
	containers := at.child("containers")
	if len(sandbox.Containers) == 0 {
		p.required(containers, "must have at least one container")
	}
	rules := &sandboxRules{sandbox: sandbox, volumes: volumes, all: sets.New[string](), names: sets.New[string]()}
	for _, container := range sandbox.AllContainers() {
		rules.all.Insert(container.Name)
	}
	for i := range sandbox.Containers {
		container := &sandbox.Containers[i]
		item := containers.item(i, container.Name)
		p.container(item, container, rules)
		p.probes(item, container, sandbox.TerminationGracePeriodSeconds)
		if container.RestartPolicy != nil {
			p.forbidden(item.child("restartPolicy"), *container.RestartPolicy,
				"containers are always restarted; only init containers have a policy of their own")
		}
	}
	for i := range sandbox.InitContainers {
		container := &sandbox.InitContainers[i]
		item := at.child("initContainers").item(i, container.Name)
		p.container(item, container, rules)
		p.initContainer(item, container, sandbox.TerminationGracePeriodSeconds)
	}
	p.gracePeriod(at.child("terminationGracePeriodSeconds"), sandbox.TerminationGracePeriodSeconds)
	p.sandboxSecurity(at.child("securityContext"), sandbox.SecurityContext)
	secrets := sets.New[string]()
	for i, secret := range sandbox.ImagePullSecrets {
		item := at.child("imagePullSecrets").item(i, secret.Name).child("name")
		p.subdomain(item, secret.Name)
		p.unique(item, secrets, secret.Name)
	}
}

// container validates the fields that all containers may have.
func (p *problems) container(at place, container *v1alpha.SandboxContainer, rules *sandboxRules) {
	p.label(at.child("name"), container.Name)
	p.unique(at.child("name"), rules.names, container.Name)
	p.image(at.child("image"), container.Image)
	p.arguments(at.child("command"), container.Command)
	p.arguments(at.child("args"), container.Args)
	p.workingDir(at.child("workingDir"), container.WorkingDir)
	p.env(at.child("env"), container.Env, rules.all)
	p.envFrom(at.child("envFrom"), container.EnvFrom)
	p.containerResources(at.child("resources"), container.Resources)
	p.containerSecurity(at.child("securityContext"), container.SecurityContext, rules.sandbox.SecurityContext)
	p.mounts(at.child("volumeAttachments"), container.VolumeAttachments, rules.volumes)
	p.ports(at.child("ports"), container.Ports)
}

// initContainer validates the fields that only a sidecar may have: any other init container ends before a probe could
// run.
func (p *problems) initContainer(at place, container *v1alpha.SandboxContainer, grace *int64) {
	if policy := container.RestartPolicy; policy != nil && *policy != corev1.ContainerRestartPolicyAlways {
		p.unsupported(at.child("restartPolicy"), string(*policy), string(corev1.ContainerRestartPolicyAlways))
	}
	if container.IsSidecar() {
		p.probes(at, container, grace)
		return
	}
	const reason = "may be set only in an init container with restartPolicy Always"
	for _, entry := range []struct {
		name string
		set  bool
	}{
		{"readinessProbe", container.ReadinessProbe != nil},
		{"livenessProbe", container.LivenessProbe != nil},
		{"startupProbe", container.StartupProbe != nil},
		{"lifecycle", container.Lifecycle != nil},
	} {
		if entry.set {
			p.forbidden(at.child(entry.name), "", reason)
		}
	}
}

func (p *problems) workingDir(at place, text string) {
	if text == "" {
		return
	}
	if !path.IsAbs(text) {
		p.invalid(at, text, "must be absolute: a runtime starts no container in another folder"+fieldsPage)
	}
	p.text(at, text)
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

// text requires that the kernel can take a text: for it, a NUL ends the text, and a runtime refuses to start such a
// container. The text is not shown, because it may be secret.
func (p *problems) text(at place, text string) {
	if strings.Contains(text, "\x00") {
		p.hidden(at, text, "must not contain a NUL character: no container can be started with it", "")
	}
}

// env validates the variables of a container of a sandbox whose containers have these names.
func (p *problems) env(at place, env []corev1.EnvVar, containers sets.Set[string]) {
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
		p.valueFrom(item.child("valueFrom"), variable.ValueFrom, containers)
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

// image is a parsed image reference.
type image struct {
	host, tag, digest string
}

// imagePattern is the grammar of image references in registries and container runtimes: name, tag, digest.
var imagePattern = regexp.MustCompile(`^(?:(` + hostPattern + `)/)?` + pathPattern + `(?:/` + pathPattern + `)*` +
	`(?::([\w][\w.-]{0,127}))?` +
	`(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`)

const (
	labelPattern = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
	// A first component is a registry only if it has the form of an address: docker.io, registry:5000, localhost,
	// [::1]:5000.
	hostPattern = `(?:` + labelPattern + `(?:\.` + labelPattern + `)+|localhost|\[[a-fA-F0-9:]+\])(?::[0-9]+)?|` + labelPattern + `:[0-9]+`
	pathPattern = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
)

// parseImage parses an image reference. It returns false if the text is not an image reference.
func parseImage(text string) (image, bool) {
	match := imagePattern.FindStringSubmatch(text)
	if match == nil {
		return image{}, false
	}
	parsed := image{host: match[1], tag: match[2], digest: match[3]}
	name, _, _ := strings.Cut(text, "@")
	name = strings.TrimSuffix(name, ":"+parsed.tag)
	return parsed, len(name) <= 255
}

func (p *problems) sandboxSecurity(at place, context *v1alpha.SandboxSecurityContext) {
	if context == nil {
		return
	}
	within(p, at.child("runAsUser"), context.RunAsUser, 0, maxID)
	within(p, at.child("runAsGroup"), context.RunAsGroup, 0, maxID)
	within(p, at.child("fsGroup"), context.FSGroup, 0, maxID)
	p.nonRoot(at.child("runAsUser"), context.RunAsUser, context.RunAsNonRoot)
}

// containerSecurity validates the security context of a container. Fields that it omits are inherited from the
// sandbox's security context.
func (p *problems) containerSecurity(at place, context *v1alpha.ContainerSecurityContext, inherited *v1alpha.SandboxSecurityContext) {
	if context == nil {
		return
	}
	within(p, at.child("runAsUser"), context.RunAsUser, 0, maxID)
	within(p, at.child("runAsGroup"), context.RunAsGroup, 0, maxID)
	user, nonRoot := context.RunAsUser, context.RunAsNonRoot
	if inherited != nil {
		if user == nil && nonRoot != nil {
			user = inherited.RunAsUser
		}
		if nonRoot == nil && user != nil {
			nonRoot = inherited.RunAsNonRoot
		}
	}
	p.nonRoot(at.child("runAsUser"), user, nonRoot)
}

// maxID is the largest ID of a user or group that Linux has.
const maxID = math.MaxInt32

// nonRoot refuses a combination with which no container could start.
func (p *problems) nonRoot(at place, user *int64, nonRoot *bool) {
	if user != nil && *user == 0 && nonRoot != nil && *nonRoot {
		p.invalid(at, *user, "must not be 0 with runAsNonRoot: no container would start")
	}
}

const oneSource = "must have exactly one of configMapKeyRef, secretKeyRef, fieldRef and resourceFieldRef"

// valueFrom validates the source of a variable of a sandbox whose containers have these names.
func (p *problems) valueFrom(at place, source *corev1.EnvVarSource, containers sets.Set[string]) {
	set := 0
	another := func(at place, text string) {
		if set++; set > 1 {
			p.forbidden(at, text, oneSource)
		}
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		another(at.child("configMapKeyRef"), ref.String())
		p.keyRef(at.child("configMapKeyRef"), ref.Name, ref.Key)
	}
	if ref := source.SecretKeyRef; ref != nil {
		another(at.child("secretKeyRef"), ref.String())
		p.keyRef(at.child("secretKeyRef"), ref.Name, ref.Key)
	}
	if ref := source.FieldRef; ref != nil {
		another(at.child("fieldRef"), ref.String())
		p.fieldRef(at.child("fieldRef"), ref)
	}
	if ref := source.ResourceFieldRef; ref != nil {
		another(at.child("resourceFieldRef"), ref.ContainerName+"/"+ref.Resource)
		p.resourceFieldRef(at.child("resourceFieldRef"), ref, containers)
	}
	if source.FileKeyRef != nil {
		p.forbidden(at.child("fileKeyRef"), source.FileKeyRef.String(),
			"no cell supports it; use one of configMapKeyRef, secretKeyRef, fieldRef and resourceFieldRef"+fieldsPage)
	}
	if set == 0 && source.FileKeyRef == nil {
		p.required(at, oneSource)
	}
}

// fieldRef validates a field of the Instance.
func (p *problems) fieldRef(at place, ref *corev1.ObjectFieldSelector) {
	if ref.APIVersion != "" && ref.APIVersion != "v1" {
		p.unsupported(at.child("apiVersion"), ref.APIVersion, "v1")
	}
	at = at.child("fieldPath")
	if ref.FieldPath == "" {
		p.required(at, "must be one of "+strings.Join(templates.FieldPaths, ", "))
		return
	}
	name, key, known := templates.SplitFieldPath(ref.FieldPath)
	switch {
	case !known:
		p.unsupported(at, ref.FieldPath, templates.FieldPaths...)
	case name == templates.FieldLabels:
		p.messages(at, key, validation.IsQualifiedName(key))
	case name == templates.FieldAnnotations && key != v1alpha.AnnotationProjectName && !templates.IsPlainAnnotation(key):
		p.invalid(at, ref.FieldPath, "must name an annotation without a domain, or "+v1alpha.AnnotationProjectName+
			": not every cell has others on Pods; set the value itself"+fieldsPage)
	}
}

// divisors are the divisors that Kubernetes allows, by the resource.
var divisors = map[string][]string{
	"cpu":    {"0", "1", "1m"},
	"memory": {"0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"},
}

// resourceFieldRef validates a resource of a container.
func (p *problems) resourceFieldRef(at place, ref *corev1.ResourceFieldSelector, containers sets.Set[string]) {
	if ref.ContainerName != "" && !containers.Has(ref.ContainerName) {
		p.notFound(at.child("containerName"), ref.ContainerName)
	}
	kind, name, _ := strings.Cut(ref.Resource, ".")
	if (kind != "limits" && kind != "requests") || divisors[name] == nil {
		p.unsupported(at.child("resource"), ref.Resource, "limits.cpu", "limits.memory", "requests.cpu", "requests.memory")
		return
	}
	if item := at.child("divisor"); p.counted(item, ref.Divisor) && !slices.ContainsFunc(divisors[name], func(allowed string) bool {
		divisor := ref.Divisor.DeepCopy()
		return divisor.Cmp(resource.MustParse(allowed)) == 0
	}) {
		p.unsupported(item, ref.Divisor.String(), divisors[name][1:]...)
	}
}
