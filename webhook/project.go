// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The user extras by which Milo says in which project a request was made.
const (
	extraParentGroup = "iam.miloapis.com/parent-api-group"
	extraParentType  = "iam.miloapis.com/parent-type"
	extraParentName  = "iam.miloapis.com/parent-name"
)

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
