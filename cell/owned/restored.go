// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"strconv"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// SentAs is the value of AnnotationSentAs of an Instance that gets its template from a deployment; "": the hub has not
// written of which generation the deployment is.
func SentAs(deployment *v1alpha.WorkloadDeployment) string {
	uid := deployment.Labels[v1alpha.LabelDeploymentUID]
	generation, err := strconv.ParseInt(deployment.Annotations[v1alpha.AnnotationProjectGeneration], 10, 64)
	if uid == "" || err != nil {
		return ""
	}
	return strconv.FormatInt(generation, 10) + " " + uid
}

// goesBack reports whether an Instance got its template from a later generation of the deployment than the one that the
// cell has now: the hub or the project was restored from a backup, and Karmada has sent the earlier template to all cells
// at once. A deployment that was created again begins with generation 1, and has another UID.
func goesBack(deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) bool {
	now, uid, known := strings.Cut(SentAs(deployment), " ")
	then, origin, noted := strings.Cut(instance.Annotations[v1alpha.AnnotationSentAs], " ")
	if !known || !noted || origin != uid {
		return false
	}
	current, err := strconv.ParseInt(now, 10, 64)
	if err != nil {
		return false
	}
	earlier, err := strconv.ParseInt(then, 10, 64)
	return err == nil && earlier > current
}
