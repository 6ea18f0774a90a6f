// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Kinds of objects that a template may name. Both are core/v1, in the namespace of the Workload.
const (
	KindConfigMap = "ConfigMap"
	KindSecret    = "Secret"
)

// DataReference is a field of a template that names a ConfigMap or Secret.
type DataReference struct {
	// Path of the name.
	Path *field.Path
	// Kind is KindConfigMap or KindSecret.
	Kind string
	// Name of the object; empty where the template has none.
	Name string
	// Optional reports that Instances start without the object.
	Optional bool
}

// DataReferences are all fields of spec that name a ConfigMap or Secret: pull secrets, then environments, then volumes.
// path is the path of spec itself; it may be nil.
func DataReferences(spec *v1alpha.InstanceSpec, path *field.Path) []DataReference {
	var found []DataReference
	if sandbox := spec.Runtime.Sandbox; sandbox != nil {
		at := path.Child("runtime", "sandbox")
		for i := range sandbox.ImagePullSecrets {
			found = append(found, DataReference{
				Path: at.Child("imagePullSecrets").Index(i).Child("name"), Kind: KindSecret, Name: sandbox.ImagePullSecrets[i].Name,
			})
		}
		found = append(found, containerReferences(sandbox.Containers, at.Child("containers"))...)
		found = append(found, containerReferences(sandbox.InitContainers, at.Child("initContainers"))...)
	}
	for i := range spec.Volumes {
		at := path.Child("volumes").Index(i)
		if source := spec.Volumes[i].ConfigMap; source != nil {
			found = append(found, DataReference{at.Child("configMap", "name"), KindConfigMap, source.Name, ptr.Deref(source.Optional, false)})
		}
		if source := spec.Volumes[i].Secret; source != nil {
			found = append(found, DataReference{at.Child("secret", "secretName"), KindSecret, source.SecretName, ptr.Deref(source.Optional, false)})
		}
	}
	return found
}

func containerReferences(containers []v1alpha.SandboxContainer, path *field.Path) []DataReference {
	var found []DataReference
	for i := range containers {
		at := path.Index(i)
		found = append(found, environmentReferences(containers[i].Env, at.Child("env"))...)
		found = append(found, sourceReferences(containers[i].EnvFrom, at.Child("envFrom"))...)
	}
	return found
}

func environmentReferences(env []corev1.EnvVar, path *field.Path) []DataReference {
	var found []DataReference
	for i := range env {
		source := env[i].ValueFrom
		if source == nil {
			continue
		}
		at := path.Index(i).Child("valueFrom")
		if key := source.ConfigMapKeyRef; key != nil {
			found = append(found, DataReference{at.Child("configMapKeyRef", "name"), KindConfigMap, key.Name, ptr.Deref(key.Optional, false)})
		}
		if key := source.SecretKeyRef; key != nil {
			found = append(found, DataReference{at.Child("secretKeyRef", "name"), KindSecret, key.Name, ptr.Deref(key.Optional, false)})
		}
	}
	return found
}

func sourceReferences(sources []corev1.EnvFromSource, path *field.Path) []DataReference {
	var found []DataReference
	for i := range sources {
		at := path.Index(i)
		if source := sources[i].ConfigMapRef; source != nil {
			found = append(found, DataReference{at.Child("configMapRef", "name"), KindConfigMap, source.Name, ptr.Deref(source.Optional, false)})
		}
		if source := sources[i].SecretRef; source != nil {
			found = append(found, DataReference{at.Child("secretRef", "name"), KindSecret, source.Name, ptr.Deref(source.Optional, false)})
		}
	}
	return found
}

// DataObject is a ConfigMap or Secret that a template names.
type DataObject struct {
	// Kind is KindConfigMap or KindSecret.
	Kind string
	// Name of the object, in the namespace of the Workload.
	Name string
}

// DataObjects are the ConfigMaps and Secrets that spec names, each once, sorted by kind and name. An object is optional
// if every reference to it is optional: Instances start without it.
func DataObjects(spec *v1alpha.InstanceSpec) (needed, optional []DataObject) {
	for _, reference := range DataReferences(spec, nil) {
		switch object := (DataObject{reference.Kind, reference.Name}); {
		case reference.Name == "":
			// Admission refuses it; an older object may still have it.
		case reference.Optional:
			optional = append(optional, object)
		default:
			needed = append(needed, object)
		}
	}
	needed = sortedObjects(needed)
	optional = slices.DeleteFunc(sortedObjects(optional), func(object DataObject) bool { return slices.Contains(needed, object) })
	return needed, optional
}

// HasDependencies reports whether a hub WorkloadDeployment has objects that must be in its cells as well: ConfigMaps
// and Secrets that its template names, and InstanceSlices.
func HasDependencies(d *v1alpha.WorkloadDeployment) bool {
	named := func(template *v1alpha.InstanceTemplateSpec) bool {
		needed, optional := DataObjects(&template.Spec)
		return len(needed) > 0 || len(optional) > 0
	}
	return d.Spec.Slices > 0 || slices.ContainsFunc(d.Spec.Templates(), named)
}

func sortedObjects(objects []DataObject) []DataObject {
	slices.SortFunc(objects, DataObject.Compare)
	return slices.Compact(objects)
}

// Compare orders objects by kind and name.
func (o DataObject) Compare(other DataObject) int {
	return cmp.Or(strings.Compare(o.Kind, other.Kind), strings.Compare(o.Name, other.Name))
}
