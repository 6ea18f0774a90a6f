// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// onlyNamespace returns the namespace that all objects of an input move from; "" if they stay, or name several.
func (m *manifests) onlyNamespace(objects []source) string {
	only := ""
	for _, object := range objects {
		if namespace := object.GetNamespace(); m.ProjectNamespace == "" || only != "" && namespace != "" && namespace != only {
			return ""
		} else if namespace != "" {
			only = namespace
		}
	}
	return only
}

// inProject is the namespace in the project of what is in a namespace of the input.
func (m *manifests) inProject(namespace string) string { return cmp.Or(m.ProjectNamespace, namespace) }

// nameNamespace is the advice about what has no namespace, if an object that it goes with has one.
const nameNamespace = "; name its namespace in --namespace"

// elsewhere is the advice about what has no namespace, if it goes with a converted object that has one.
func (m *manifests) elsewhere(namespace string, goes func(*converted) bool) string {
	if namespace == "" && slices.ContainsFunc(m.workloads, goes) {
		return nameNamespace
	}
	return ""
}

// selectedElsewhere is the advice about a selector without a namespace.
func (m *manifests) selectedElsewhere(namespace string, selector *metav1.LabelSelector) string {
	matches, err := metav1.LabelSelectorAsSelector(selector)
	return m.elsewhere(namespace, func(c *converted) bool { return err == nil && matches.Matches(labels.Set(c.podLabels)) })
}

// listNamespaces lists each namespace with Workloads that the input names and does not mark as a project.
func (m *manifests) listNamespaces() {
	listed := map[string]bool{"": true, m.Namespace: true}
	for _, object := range m.objects {
		if object.GetKind() == "Namespace" && object.GetLabels()[v1alpha.LabelNamespaceProject] == "true" {
			listed[object.GetName()] = true
		}
	}
	for _, c := range m.workloads {
		if namespace := c.from.namespace; m.ProjectNamespace == "" && !listed[namespace] {
			listed[namespace] = true
			m.lose("Namespace "+namespace, "", "must be one of the project: without Milo, one with label "+v1alpha.LabelNamespaceProject+
				": true; --project-namespace moves all objects to one")
		}
	}
}
