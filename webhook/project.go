// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The user extras by which Milo says in which project a request was made.
const (
	extraParentGroup = "iam.miloapis.com/parent-api-group"
	extraParentType  = "iam.miloapis.com/parent-type"
	extraParentName  = "iam.miloapis.com/parent-name"
)

// ErrProjectNotFound says that Milo does not know a project.
var ErrProjectNotFound = errors.New("project not found")

// ProjectState says whether a project can take Workloads.
type ProjectState string

const (
	// ProjectActive takes Workloads.
	ProjectActive ProjectState = "Active"
	// ProjectDeleting is being deleted.
	ProjectDeleting ProjectState = "Deleting"
	// ProjectSuspended takes none until it is resumed.
	ProjectSuspended ProjectState = "Suspended"
	// ProjectNotReady has no control plane yet.
	ProjectNotReady ProjectState = "NotReady"
)

// Project is what admission knows of a project.
type Project struct {
	// Name and UID say which one: a project that is recreated is another.
	Name string
	UID  types.UID
	// State says whether it can take Workloads.
	State ProjectState
}

// Projects answers for any project, on every replica.
type Projects interface {
	// Project returns a project, or ErrProjectNotFound. Any other error says that Milo could not be asked.
	Project(ctx context.Context, name string) (Project, error)
	// CityCodes are the cities that the project may use now: upper case, sorted, each once.
	CityCodes(ctx context.Context, project Project) ([]string, error)
	// FreshCityCodes are the same, past any cache.
	FreshCityCodes(ctx context.Context, project Project) ([]string, error)
	// Review asks the project's authorizer, and returns its reason.
	Review(ctx context.Context, project Project, review authorizationv1.SubjectAccessReviewSpec) (bool, string, error)
	// InstanceAllowance is how many Instances the project may have, if that is known.
	InstanceAllowance(ctx context.Context, project Project) (limit int64, known bool, err error)
}

// projectOf is the project that a request says it was made in. Milo sets the extras in every project and overrides
// what came in; at its root somebody may have forged them, which is why the Project is looked up as well.
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

// reviewBy is a review for the user of a request, with everything that an authorizer may want to know: Milo's says no
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
