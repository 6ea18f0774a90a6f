// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// IsMissing reports whether an API server has answered that it has no object of this name. An API server that does not
// serve the kind yet answers "not found" too, without a name; client-go adds the name that was asked for.
func IsMissing(err error, name string) bool {
	missing, isNamed := missingName(err)
	return isNamed && missing == name
}

// IsUnserved reports whether an API server has answered that it does not serve a kind. That is no answer about its objects:
// its definition may be replaced, or a gateway has no route to the API server for a moment.
func IsUnserved(err error) bool {
	_, isNamed := missingName(err)
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && !isNamed
}

// missingName is the name of the object that an API server does not have.
func missingName(err error) (name string, isNamed bool) {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || apierrors.IsUnexpectedServerError(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return "", false
	}
	name = status.Status().Details.Name
	return name, name != ""
}
