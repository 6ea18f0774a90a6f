// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// Kinds of objects that a template may name. Both are core/v1, in the namespace of the Workload.
const (
	KindConfigMap = "ConfigMap"
	KindSecret    = "Secret"
)

// DataReference is a place in a template that names a ConfigMap or Secret.
// +kubebuilder:object:generate=false
type DataReference struct {
	// Path is where the name stands.
	Path *field.Path
	// Kind is KindConfigMap or KindSecret.
	Kind string
	// Name of the object; empty where the template forgot it.
	Name string
	// Optional says that an Instance runs without it.
	Optional bool
}

// DataReferences are all places in spec that name a ConfigMap or Secret, in the order in which they stand there: pull
// secrets, then environments, then volumes. path is where spec itself stands; it may be nil.
func DataReferences(spec *InstanceSpec, path *field.Path) []DataReference {
	var found []DataReference
	if sandbox := spec.Runtime.Sandbox; sandbox != nil {
		at := path.Child("runtime", "sandbox")
		for i := range sandbox.ImagePullSecrets {
			found = append(found, DataReference{
				Path: at.Child("imagePullSecrets").Index(i).Child("name"), Kind: KindSecret, Name: sandbox.ImagePullSecrets[i].Name,
			})
		}
		for i := range sandbox.Containers {
			found = append(found, environmentReferences(sandbox.Containers[i].Env, at.Child("containers").Index(i).Child("env"))...)
		}
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
