// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// refused lists every problem of a Workload.
func refused(workload *v1alpha.Workload, problems field.ErrorList) admission.Response {
	status := apierrors.NewInvalid(v1alpha.GroupVersion.WithKind("Workload").GroupKind(), workload.Name, problems).Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: false, Result: &status}}
}

// malformed answers a request that no API server sends.
func malformed(err error) admission.Response {
	return failed(http.StatusBadRequest, metav1.StatusReasonBadRequest, err)
}

// unavailable answers while Milo does not. It is no denial: the user may try again.
func unavailable(err error) admission.Response {
	return unanswered(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err)
}

// projectUnavailable is unavailable for a reason that lies in one project.
func projectUnavailable(err error) admission.Response {
	return unanswered(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, err)
}

// reasonNotImplemented is the reason of code 501, for which apimachinery has none.
const reasonNotImplemented metav1.StatusReason = "NotImplemented"

// uninstalled answers while Milo does not serve a kind that admission needs. It is no denial, and no use to try again:
// an operator has to install the kind.
func uninstalled(err error) admission.Response {
	return failed(http.StatusNotImplemented, reasonNotImplemented, err)
}

// unanswered answers with the given code or, where the error is a fault of this replica alone, with 500: only that
// makes a replica unready.
func unanswered(code int32, reason metav1.StatusReason, err error) admission.Response {
	if apierrors.IsInternalError(err) {
		code, reason = http.StatusInternalServerError, metav1.StatusReasonInternalError
	}
	return failed(code, reason, err)
}

func failed(code int32, reason metav1.StatusReason, err error) admission.Response {
	response := admission.Errored(code, err)
	response.Result.Reason = reason
	return response
}
