// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/watch"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/milo"
)

// reserved are the prefixes of namespaces that Kubernetes and Karmada use themselves. Labelling such a namespace must
// not send its Secrets to a cell.
var reserved = []string{"kube-", "karmada-"}

// Eligible reports whether a namespace with this name can be a project. A hub namespace cannot: admission does not
// review Karmada's writes there. The name decides because, unlike a label, it never changes.
func Eligible(name string) bool {
	for _, prefix := range reserved {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return name != "" && !naming.IsHubNamespace(name)
}

// isLabelled reports whether a namespace has a label that turns it into a project.
func isLabelled(namespace *corev1.Namespace) bool {
	value := namespace.Labels[v1alpha.LabelNamespaceProject]
	return value == v1alpha.NamespaceProject || value == v1alpha.NamespaceSuspended
}

// identityOf is the identity of a namespace as a project: its UID or, for one that takes over what an earlier hub ran, the UID
// that it had there.
func identityOf(namespace metav1.Object) types.UID {
	return wire.AdoptionOf(namespace).Identity(namespace)
}

// trimNamespace bounds the metadata of a namespace in the cache. The record of an adoption stays: without it the namespace would
// be another project, and its Instances would be replaced.
func trimNamespace(obj any) (any, error) {
	namespace, ok := obj.(*corev1.Namespace)
	if !ok {
		return obj, nil
	}
	adopted, isAdopted := namespace.Annotations[v1alpha.AnnotationAdopted]
	watch.BoundMetadata(namespace)
	if isAdopted {
		metav1.SetMetaDataAnnotation(&namespace.ObjectMeta, v1alpha.AnnotationAdopted, adopted)
	}
	return namespace, nil
}

// projectOf is a namespace as a Project. The Project's identity is the namespace's. isReady reports whether Workloads
// may be written there.
func projectOf(namespace *corev1.Namespace, isReady bool) *milo.Project {
	project := &milo.Project{ObjectMeta: metav1.ObjectMeta{
		Name: namespace.Name, UID: identityOf(namespace), ResourceVersion: namespace.ResourceVersion, Labels: namespace.Labels,
		CreationTimestamp: namespace.CreationTimestamp, DeletionTimestamp: namespace.DeletionTimestamp,
	}}
	set := func(condition string, isTrue bool) {
		if isTrue {
			project.Status.Conditions = append(project.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue})
		}
	}
	set(milo.ConditionReady, isReady)
	set(milo.ConditionSuspended, namespace.Labels[v1alpha.LabelNamespaceProject] == v1alpha.NamespaceSuspended)
	return project
}
