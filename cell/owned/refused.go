// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// RefusalNote is the value of AnnotationRefused for a template that the cell refuses.
func RefusalNote(hash, reason, message string) string {
	return hash + " " + reason + " " + reasons.Shorten(message, v1alpha.MaxMessage)
}

// Refused returns why the cell refuses the template with this hash, by the note on an Instance that keeps its own; "" if
// there is no note about that template. An Instance that is not Ready has a reason of its own.
func Refused(instance *v1alpha.Instance, hash string) (reason, message string) {
	tail, found := strings.CutPrefix(instance.Annotations[v1alpha.AnnotationRefused], hash+" ")
	if !found || instance.TemplateHash() == hash || !Ready(instance) {
		return "", ""
	}
	reason, message, _ = strings.Cut(tail, " ")
	return reason, message
}

// UnlessEnding returns the error of a write, and nil if the API server refuses it because it deletes the namespace with everything in it.
func UnlessEnding(err error) error {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}
