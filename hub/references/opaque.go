// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// opaque is an error of an API server that shows only its code and reason: the text of such an error may quote the
// contents of an object.
type opaque struct{ error }

func (o opaque) Error() string {
	var status apierrors.APIStatus
	if errors.As(o.error, &status) {
		return fmt.Sprintf("the API server answered %d %s", status.Status().Code, apierrors.ReasonForError(o.error))
	}
	return o.error.Error()
}

func (o opaque) Unwrap() error { return o.error }

func withoutContent(err error) error {
	if err == nil {
		return nil
	}
	return opaque{err}
}
