// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

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
		p.forbidden(at.child("fileKeyRef"), source.FileKeyRef.String(), "no cell supports it; use one of configMapKeyRef, secretKeyRef, fieldRef and resourceFieldRef")
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
			": not every cell has others on Pods; set the value itself")
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
