// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"

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
