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
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/internal/citychoice"
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
	// Deleting, Suspended and Ready are the state of the Project at Milo. A Project that is being deleted may still be Ready.
	Deleting, Suspended, Ready bool
	// Metered reports whether its Instances need quota.
	Metered bool
}

// refusal is the reason why no Workload can be written in a project, empty if one can. Deleting comes first, because it is final, and
// suspended before not ready, because it does not end by itself.
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

// Projects reads any project, on every replica. An error means that Milo gave no answer; it is an InternalError (apierrors) when that
// is a fault of this replica alone.
type Projects interface {
	// Project returns a project, or ErrProjectNotFound. It may be a little old: before a refusal, ask FreshProject.
	Project(ctx context.Context, name string) (Project, error)
	// FreshProject returns the same, bypassing all caches.
	FreshProject(ctx context.Context, name string) (Project, error)
	// Locations returns the locations of the project, which callers must not change. age is their age while Milo does not answer; 0:
	// they are current. The error is v1alpha.ErrLocationsNotServed when Milo does not serve locations for any project.
	Locations(ctx context.Context, project Project) (locations []citychoice.Location, age time.Duration, err error)
	// FreshLocations returns the current locations, bypassing all caches.
	FreshLocations(ctx context.Context, project Project) ([]citychoice.Location, error)
	// Review sends a SubjectAccessReview to the project and returns whether it was allowed, and the reason.
	Review(ctx context.Context, project Project, review authorizationv1.SubjectAccessReviewSpec) (bool, string, error)
	// MayWrite sends a SubjectAccessReview, as Review does, and returns whether it was allowed. While Milo does not answer, the result
	// may be as old as Project: an API server has authorized the request itself.
	MayWrite(ctx context.Context, project Project, review authorizationv1.SubjectAccessReviewSpec) (bool, error)
	// ReserveInstances returns the number of Instances of the project's Workloads, including the Instances that a request adds. The
	// added Instances count from now on, unless the total exceeds the maximum.
	ReserveInstances(ctx context.Context, project Project, reservation Reservation) (total int64, err error)
	// InstanceAllowance is how many Instances the project may have, if that is known.
	InstanceAllowance(ctx context.Context, project Project) (limit int64, known bool, err error)
}

// projectOf is the project that the extras of a request name. In every project, Milo sets the extras and overrides the request's own.
// At Milo's root, callers with the permission to impersonate can forge them, and the request does not show that. So the Project is
// looked up as well, and no object that is stored at the root is ever read.
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
	if problems := validation.IsDNS1123Label(values[extraParentName]); len(problems) > 0 {
		return "", fmt.Errorf("the request was not made in a project: %q is no name of one", values[extraParentName])
	}
	return values[extraParentName], nil
}

// reviewBy is a review for the user of a request, with all attributes of the user: Milo's authorizer denies everything to
// a user without the extras.
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
