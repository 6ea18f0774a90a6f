// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// Scope determines the project of a request, and names the project in responses.
type Scope interface {
	// Of returns the name of the project of a request. The error is the refusal of a request outside of any project.
	Of(request admission.Request) (project string, err error)
	// Missing returns the reason why a project that does not exist cannot be written in.
	Missing(project string) string
	// Problems returns the problems of a Workload that names objects or locations that the project cannot have.
	Problems(project string, workload *v1alpha.Workload) field.ErrorList
}

// Milo is the Scope of projects that are control planes of Milo, which names them in the extras of the user.
type Milo struct{}

// Of returns the project that the extras name.
func (Milo) Of(request admission.Request) (string, error) { return projectOf(request.UserInfo) }

// Missing is that the project does not exist.
func (Milo) Missing(project string) string { return fmt.Sprintf("project %q does not exist", project) }

// Problems returns none: a project of Milo has namespaces.
func (Milo) Problems(string, *v1alpha.Workload) field.ErrorList { return nil }

// Namespaces is the Scope of projects that are namespaces of the hub.
type Namespaces struct {
	// Eligible reports whether a namespace of that name can be a project.
	Eligible func(name string) bool
}

// Of returns the namespace of a request, which the API server takes from its path. Nothing in the object names the project.
func (n Namespaces) Of(request admission.Request) (string, error) {
	if !n.Eligible(request.Namespace) {
		return "", fmt.Errorf("namespace %q is one of Kubernetes, of Karmada or of karmada-compute and cannot be a project; "+
			"create Workloads in a namespace with label %s=%s", request.Namespace, v1alpha.LabelNamespaceProject, v1alpha.NamespaceProject)
	}
	return request.Namespace, nil
}

// Missing is that the namespace lacks the label.
func (Namespaces) Missing(project string) string {
	return fmt.Sprintf("namespace %q is not a project: an operator has to label it %s=%s", project, v1alpha.LabelNamespaceProject, v1alpha.NamespaceProject)
}

// Problems are the references to other namespaces: a project has no objects there.
func (Namespaces) Problems(project string, workload *v1alpha.Workload) field.ErrorList {
	var problems field.ErrorList
	for _, reference := range validation.References(workload) {
		if reference.Namespace != "" && reference.Namespace != project {
			problems = append(problems, field.Forbidden(reference.Path, fmt.Sprintf(
				"%s %q is in namespace %q; a project that is a namespace can use its own only: %q", reference.Resource, reference.Name, reference.Namespace, project)))
		}
	}
	return problems
}

// scopeOf returns a Scope, by default Milo's.
func scopeOf(scope Scope) Scope {
	if scope == nil {
		return Milo{}
	}
	return scope
}
