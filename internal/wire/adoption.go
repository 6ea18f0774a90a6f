// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/json"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Adoption is the record by which a project that is a namespace takes over what an earlier hub ran: the value of AnnotationAdopted.
// A policy on the hub lets only operators write it.
type Adoption struct {
	// Namespace is the UID of the namespace on this hub. A namespace that is recreated with the annotation is another project.
	Namespace types.UID `json:"namespace"`
	// Project is the UID of the namespace on the earlier hub, from which the hub namespace in the cells has its name.
	Project types.UID `json:"project"`
	// Workloads are the UIDs of the Workloads on the earlier hub, by their names.
	Workloads map[string]types.UID `json:"workloads,omitempty"`
}

var uidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// IsUID reports whether a text has the form of the UIDs that API servers give.
func IsUID(text string) bool { return uidPattern.MatchString(text) }

// AdoptionOf returns the record of a namespace, as the API server has it. The zero value adopts nothing: the namespace has no
// record, or one that is not valid or was written for another namespace.
func AdoptionOf(namespace metav1.Object) Adoption {
	var found Adoption
	value := namespace.GetAnnotations()[v1alpha.AnnotationAdopted]
	if value == "" || json.Unmarshal([]byte(value), &found) != nil || found.Namespace != namespace.GetUID() || !IsUID(string(found.Project)) {
		return Adoption{}
	}
	for name, uid := range found.Workloads {
		if !IsUID(string(uid)) {
			delete(found.Workloads, name)
		}
	}
	return found
}

// Identity returns the identity of the project that a namespace is: the adopted one, or its UID.
func (a Adoption) Identity(namespace metav1.Object) types.UID {
	if a.Project != "" {
		return a.Project
	}
	return namespace.GetUID()
}
