// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"cmp"
	"slices"
	"strings"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// InterpretDependency are the ConfigMaps and Secrets that the template of a deployment names, each once, by kind and
// name. Optional ones are among them: they must be in the cell when they are on the hub.
func InterpretDependency(object *v1alpha.WorkloadDeployment) []configv1alpha1.DependentObjectReference {
	named := references{namespace: object.Namespace}
	for i := range object.Spec.Template.Spec.Volumes {
		named.addVolume(&object.Spec.Template.Spec.Volumes[i])
	}
	if sandbox := object.Spec.Template.Spec.Runtime.Sandbox; sandbox != nil {
		for i := range sandbox.ImagePullSecrets {
			named.add("Secret", sandbox.ImagePullSecrets[i].Name)
		}
		for i := range sandbox.Containers {
			named.addEnv(sandbox.Containers[i].Env)
		}
	}
	slices.SortFunc(named.list, func(a, b configv1alpha1.DependentObjectReference) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(named.list, func(a, b configv1alpha1.DependentObjectReference) bool {
		return a.Kind == b.Kind && a.Name == b.Name
	})
}

// references collects what is named.
type references struct {
	namespace string
	list      []configv1alpha1.DependentObjectReference
}

// add takes a name. Karmada refuses the whole answer for an empty one.
func (r *references) add(kind, name string) {
	if name != "" {
		r.list = append(r.list, configv1alpha1.DependentObjectReference{APIVersion: "v1", Kind: kind, Namespace: r.namespace, Name: name})
	}
}

func (r *references) addVolume(volume *v1alpha.InstanceVolume) {
	if volume.ConfigMap != nil {
		r.add("ConfigMap", volume.ConfigMap.Name)
	}
	if volume.Secret != nil {
		r.add("Secret", volume.Secret.SecretName)
	}
}

func (r *references) addEnv(env []corev1.EnvVar) {
	for i := range env {
		source := env[i].ValueFrom
		if source == nil {
			continue
		}
		if source.ConfigMapKeyRef != nil {
			r.add("ConfigMap", source.ConfigMapKeyRef.Name)
		}
		if source.SecretKeyRef != nil {
			r.add("Secret", source.SecretKeyRef.Name)
		}
	}
}
