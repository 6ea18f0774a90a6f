// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// The user extras in which Milo names the project of a request.
const (
	extraParentGroup = "iam.miloapis.com/parent-api-group"
	extraParentType  = "iam.miloapis.com/parent-type"
	extraParentName  = "iam.miloapis.com/parent-name"
)

// ErrProjectNotFound reports that Milo has no project of that name.
var ErrProjectNotFound = errors.New("project not found")

// Project is the state of a project that admission uses.
type Project struct {
	// Name and UID identify the project: a recreated project is a different one.
	Name string
	UID  types.UID
	// Deleting, Suspended and Ready are the state of the Project at Milo. A Project that is being deleted may still be
	// Ready.
	Deleting, Suspended, Ready bool
	// Metered reports whether its Instances need quota.
	Metered bool
}

// refusal is the reason why no Workload can be written in a project, empty if one can. Deleting comes first, because it
// is final, and suspended before not ready, because it does not end by itself.
func (p *Project) refusal() string {
	switch {
	case p.Deleting:
		return fmt.Sprintf("project %q is being deleted", p.Name)
	case p.Suspended:
		return fmt.Sprintf("project %q is suspended; resume it first", p.Name)
	case !p.Ready:
		return fmt.Sprintf("project %q is not ready yet; try again when its condition Ready is True", p.Name)
	default:
		return ""
	}
}

// Projects reads any project, on every replica. An error means that Milo gave no answer; it is an InternalError
// (apierrors) when that is a fault of this replica alone.
type Projects interface {
	// Project returns a project, or ErrProjectNotFound. It may be a little old: before a refusal, ask FreshProject.
	Project(ctx context.Context, name string) (Project, error)
	// FreshProject returns the same, bypassing all caches.
	FreshProject(ctx context.Context, name string) (Project, error)
	// Locations returns the locations of the project, which callers must not change. age is their age while Milo does not
	// answer; 0: they are current. The error is v1alpha.ErrLocationsNotServed when Milo does not serve locations for any
	// project.
	Locations(ctx context.Context, project Project) (locations []cities.Location, age time.Duration, err error)
	// FreshLocations returns the current locations, bypassing all caches.
	FreshLocations(ctx context.Context, project Project) ([]cities.Location, error)
	// Review sends a SubjectAccessReview to the project and returns whether it was allowed, and the reason.
	Review(ctx context.Context, project Project, review authorizationv1.SubjectAccessReviewSpec) (bool, string, error)
	// MayWrite sends a SubjectAccessReview, as Review does, and returns whether it was allowed. While Milo does not
	// answer, the result may be as old as Project: an API server has authorized the request itself.
	MayWrite(ctx context.Context, project Project, review authorizationv1.SubjectAccessReviewSpec) (bool, error)
	// Reserve returns what the project's Workloads ask for, including what a request adds. That counts from now on, unless
	// the project is full.
	Reserve(ctx context.Context, project Project, reservation templates.Reservation) (total templates.Demand, err error)
	// InstanceAllowance is how many Instances the project may have, if that is known.
	InstanceAllowance(ctx context.Context, project Project) (limit int64, known bool, err error)
}

// projectOf is the project that the extras of a request name. In every project, Milo sets the extras and overrides the
// request's own. At Milo's root, callers with the permission to impersonate can forge them, and the request does not
// show that. So the Project is looked up as well, and no object that is stored at the root is ever read.
func projectOf(user authenticationv1.UserInfo) (string, error) {
	values := map[string]string{}
	for _, key := range []string{extraParentGroup, extraParentType, extraParentName} {
		extra := user.Extra[key]
		if len(extra) != 1 {
			return "", fmt.Errorf("the request was not made in a project: user extra %s has %d values, not one; "+
				"create Workloads through the control plane of a project", key, len(extra))
		}
		values[key] = extra[0]
	}
	if values[extraParentGroup] != "resourcemanager.miloapis.com" || values[extraParentType] != "Project" {
		return "", fmt.Errorf("the request was not made in a project but in %s of %s; create Workloads through the control plane of a project",
			values[extraParentType], values[extraParentGroup])
	}
	if problems := utilvalidation.IsDNS1123Label(values[extraParentName]); len(problems) > 0 {
		return "", fmt.Errorf("the request was not made in a project: %q is no name of one", values[extraParentName])
	}
	return values[extraParentName], nil
}

// reviewBy is a review for the user of a request, with all attributes of the user: Milo's authorizer denies everything
// to a user without the extras.
func reviewBy(user authenticationv1.UserInfo, attributes authorizationv1.ResourceAttributes) authorizationv1.SubjectAccessReviewSpec {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, values := range user.Extra {
		extra[key] = slices.Clone(authorizationv1.ExtraValue(values))
	}
	return authorizationv1.SubjectAccessReviewSpec{
		ResourceAttributes: &attributes,
		User:               user.Username, Groups: user.Groups, UID: user.UID, Extra: extra,
	}
}

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

// Of returns the namespace of a request, which the API server takes from its path. Nothing in the object names the
// project.
func (n Namespaces) Of(request admission.Request) (string, error) {
	if !n.Eligible(request.Namespace) {
		return "", fmt.Errorf("namespace %q is one of Kubernetes, of Karmada or of karmada-compute and cannot be a project; "+
			"create Workloads in a namespace with label %s=%s", request.Namespace, v1alpha.LabelNamespaceProject, v1alpha.NamespaceProject)
	}
	return request.Namespace, nil
}

// Missing is that the namespace lacks the label.
func (Namespaces) Missing(project string) string {
	return fmt.Sprintf("namespace %q is not a project: an operator has to label it %s=%s", project,
		v1alpha.LabelNamespaceProject, v1alpha.NamespaceProject)
}

// Problems are the references to other namespaces: a project has no objects there.
func (Namespaces) Problems(project string, workload *v1alpha.Workload) field.ErrorList {
	var problems field.ErrorList
	for _, reference := range validation.References(workload) {
		if reference.Namespace != "" && reference.Namespace != project {
			problems = append(problems, field.Forbidden(reference.Path, fmt.Sprintf(
				"%s %q is in namespace %q; a project that is a namespace can use its own only: %q", reference.Resource,
				reference.Name, reference.Namespace, project)))
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
