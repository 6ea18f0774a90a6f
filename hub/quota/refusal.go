// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// causeSuspended is the cause with which Milo refuses to create objects in a suspended project.
const causeSuspended metav1.CauseType = "ProjectSuspended"

// ofSuspended is the denial in a suspended project. Its Instances do not wait for Milo.
var ofSuspended = denial{v1alpha.ReasonPendingEvaluation, "the project is suspended: nothing is claimed until it is resumed"}

// refusal returns why Milo does not accept, or does not return, a claim.
func (s *scope) refusal(ctx context.Context, err error) denial {
	switch {
	case apierrors.HasStatusCause(err, causeSuspended):
		return ofSuspended
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return denial{v1alpha.ReasonQuotaNamespaceNotFound, fmt.Sprintf("namespace %s of the project is being deleted", s.deployment.Namespace)}
	case apierrors.IsForbidden(err):
		return forbidden(err.Error())
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return denial{v1alpha.ReasonQuotaValidationFailed, shorten("Milo does not accept the claim: " + err.Error())}
	case wire.IsMissing(err, s.deployment.Namespace):
		return s.missing(ctx)
	case wire.IsUnserved(err):
		return denial{v1alpha.ReasonQuotaMisconfigured, "Milo does not serve ResourceClaims of quota.miloapis.com/v1alpha1 in the project"}
	default:
		return unanswered
	}
}

// forbidden returns the denial for a 403 of Milo.
func forbidden(message string) denial {
	switch {
	case strings.Contains(message, "is not available for quota management") || strings.Contains(message, "no ResourceRegistration found"):
		return denial{v1alpha.ReasonQuotaMisconfigured, shorten("a ResourceRegistration is missing at Milo: " + message)}
	case strings.Contains(message, "Insufficient quota resources available"):
		return denial{v1alpha.ReasonQuotaExceeded, shorten("Milo refuses the claim: " + message)}
	default:
		return denial{v1alpha.ReasonQuotaMisconfigured, shorten("Milo does not let the add-on claim quota: " + message)}
	}
}

// missing determines whether the project or the namespace is gone when Milo has no such namespace: an unknown project
// has no namespaces.
func (s *scope) missing(ctx context.Context) denial {
	gone := denial{v1alpha.ReasonQuotaNamespaceNotFound, fmt.Sprintf("the project has no namespace %s any more", s.deployment.Namespace)}
	if s.Existence == nil {
		return gone
	}
	uid, found, err := s.Existence.Lookup(ctx, s.projectName)
	switch {
	case err != nil:
		return unanswered
	case !found || uid != s.projectUID:
		return denial{v1alpha.ReasonQuotaProjectNotFound, fmt.Sprintf("Milo has no project %s any more that this Instance is of", s.projectName)}
	}
	return gone
}

// tell records events on the Workload: one for each new reason for which Instances do not start, and one when all
// start.
func (s *scope) tell(before, after *v1alpha.WorkloadDeploymentQuota) {
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.deployment.Namespace, Name: s.deployment.Spec.WorkloadRef.Name, UID: s.deployment.Spec.WorkloadRef.UID,
	}}
	for _, withheld := range after.Withheld {
		if withheld.Reason == v1alpha.ReasonPendingEvaluation || slices.ContainsFunc(before.Withheld, sameReason(withheld.Reason)) {
			continue
		}
		s.events.Eventf(workload, corev1.EventTypeWarning, withheld.Reason, "Deployment %s: %s not start: %s",
			s.deployment.Name, reasons.Count(len(naming.OfRanges(withheld.Indices)), "Instance does", "Instances do"), withheld.Message)
	}
	if len(after.Withheld) == 0 && slices.ContainsFunc(before.Withheld,
		func(w v1alpha.QuotaWithheld) bool { return w.Reason != v1alpha.ReasonPendingEvaluation }) {
		s.events.Eventf(workload, corev1.EventTypeNormal, v1alpha.ReasonQuotaAvailable,
			"Deployment %s: the quota of all Instances is granted", s.deployment.Name)
	}
}

func sameReason(reason string) func(v1alpha.QuotaWithheld) bool {
	return func(w v1alpha.QuotaWithheld) bool { return w.Reason == reason }
}
