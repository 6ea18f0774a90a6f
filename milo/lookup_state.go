// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import "k8s.io/apimachinery/pkg/api/meta"

// ProjectState says what may be done in a project.
type ProjectState string

// The states of a project.
const (
	// ProjectActive: everything may be done.
	ProjectActive ProjectState = "Active"
	// ProjectDeleting: nothing new may be made.
	ProjectDeleting ProjectState = "Deleting"
	// ProjectSuspended: nothing may be made or changed until an administrator resumes the project.
	ProjectSuspended ProjectState = "Suspended"
	// ProjectNotReady: its control plane is not set up yet, which takes about a second.
	ProjectNotReady ProjectState = "NotReady"
)

// State is the state of a project. Deleting wins over suspended, since that is final, and suspended over not ready,
// since waiting does not end it.
func (p *Project) State() ProjectState {
	switch {
	// Ready stays True while a project is deleted.
	case !p.DeletionTimestamp.IsZero():
		return ProjectDeleting
	case meta.IsStatusConditionTrue(p.Status.Conditions, ConditionSuspended):
		return ProjectSuspended
	case !meta.IsStatusConditionTrue(p.Status.Conditions, ConditionReady):
		return ProjectNotReady
	default:
		return ProjectActive
	}
}
