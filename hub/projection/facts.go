// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// facts are the findings of one reconcile about a WorkloadDeployment. Their methods are pure: from the facts follow the Instances and the
// status that the project shows.
type facts struct {
	now        time.Time
	deployment *v1alpha.WorkloadDeployment
	// copied is the deployment on the hub, with the status that its cells report in their Works.
	copied *v1alpha.WorkloadDeployment
	// onHub is the copy on the hub, even if it belongs to another deployment; nil: none exists.
	onHub *v1alpha.WorkloadDeployment
	// reported are the Instances that its cells report.
	reported []wire.Instance
	// nowhere: Karmada has removed the deployment from all cells, so that none of its Instances runs.
	nowhere bool
	// recalled are the cells without a report of which the project shows an earlier one.
	recalled map[string]bool
	// row is the path of the copy through Karmada, and findings are the faults that invalidate its reported status.
	row      *path.Row
	findings []path.Finding
	// dropped: the cells that reported are lost permanently.
	dropped bool
	// withdrawn: the hub has no copy, or one that is being deleted: copied is empty.
	withdrawn bool
	// requeueAfter is after what time the facts differ without an event.
	requeueAfter pace.After
}
