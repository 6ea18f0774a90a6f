// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Texts of the API server in its answers to the creation of a Pod.
const (
	exceededQuota = "exceeded quota: "
	silentWebhook = "failed calling webhook"
)

// denied are the texts by which an admission webhook and an admission policy refuse an object, with any code.
var denied = []string{"denied the request", "denied request"}

// refusal is the finding of a Pod that the API server refuses; nil: the error is no refusal. No template corrects that a
// ResourceQuota of the cell is exceeded, and what the admission of the cell accepts is its operator's.
func refusal(err error) *finding {
	reason, text := "", err.Error()
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(text, exceededQuota):
		reason = v1alpha.ReasonCellQuotaExceeded
	case apierrors.IsForbidden(err), isDenied(text), apierrors.IsInternalError(err) && strings.Contains(text, silentWebhook):
		reason = v1alpha.ReasonPodRefused
	case apierrors.IsInvalid(err):
		reason = v1alpha.ReasonConfigurationError
	default:
		return nil
	}
	return &finding{reason, "the cell refuses the Pod: " + text}
}

func isDenied(text string) bool {
	for _, words := range denied {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
