// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unansweredError reports that Milo gave no answer. It is an apierrors.APIStatus: InternalError for a fault of this
// replica, ServiceUnavailable when every other replica would get the same error. It hides the APIStatus of err, since
// an InternalError of Milo is no fault of this replica.
type unansweredError struct {
	// plane is the API server that was asked.
	plane string
	what  string
	err   error
	own   bool
}

// Error names the subject of the lookup, and the action of an administrator unless the error is temporary.
func (e *unansweredError) Error() string {
	switch {
	case apierrors.IsForbidden(e.err):
		return e.plane + " refuses the add-on " + e.what + ", an administrator must grant it: " + e.err.Error()
	case apierrors.IsUnauthorized(e.err):
		return e.plane + " does not accept the credentials of this replica for " + e.what + ": " + e.err.Error()
	default:
		return e.plane + " cannot be reached for " + e.what + ": " + e.err.Error()
	}
}

// Unwrap returns the client's error.
func (e *unansweredError) Unwrap() error { return e.err }

// Status classifies the error.
func (e *unansweredError) Status() metav1.Status {
	status := metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable, Message: e.Error(),
	}
	if e.own {
		status.Code, status.Reason = http.StatusInternalServerError, metav1.StatusReasonInternalError
	}
	return status
}

// unanswered wraps and classifies the client's error of a request to Milo.
func (l *Lookup) unanswered(what string, err error) error {
	return &unansweredError{
		plane: l.planes.Name(), what: what, err: err, own: isOwnFault(err) || !l.answered.Load() && isMisconfiguration(err),
	}
}

// isOwnFault reports whether other replicas may succeed where this one fails: replicas read their credentials at
// different times, and each has its own file descriptors and ports.
func isOwnFault(err error) bool {
	return apierrors.IsUnauthorized(err) ||
		errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

// isMisconfiguration reports whether an error indicates a wrong address, CA or role, and not an outage: an unknown host
// name, a certificate of another CA, or a 4xx. After Milo's first answer, the same error means that something changed
// for all replicas.
func isMisconfiguration(err error) bool {
	if unknown := (*net.DNSError)(nil); errors.As(err, &unknown) {
		return unknown.IsNotFound
	}
	if certificate := (*tls.CertificateVerificationError)(nil); errors.As(err, &certificate) {
		return true
	}
	refusal := apierrors.APIStatus(nil)
	return errors.As(err, &refusal) && refusal.Status().Code < http.StatusInternalServerError && !apierrors.IsTooManyRequests(err)
}
