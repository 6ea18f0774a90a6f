// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// facts are the indices of all Instances of a deployment, grouped by the states that the hub needs. The Instances are
// ordered by index. A template that an override policy has changed, or that a restored backup has brought back, does not
// count for current: the Instances that need a turn for it are listed apart.
func facts(deployment *v1alpha.WorkloadDeployment, versions *owned.Templates, ordered []indexed) v1alpha.CellIndices {
	result := v1alpha.CellIndices{TemplateHash: versions.Sent}
	var existing, ready, available, held, current, dataReady, overridden []int
	for _, entry := range ordered {
		index, instance := entry.index, entry.Instance
		existing = append(existing, index)
		if owned.Ready(instance) {
			ready = append(ready, index)
		}
		if owned.Available(instance) {
			available = append(available, index)
		}
		if hasGate(instance, v1alpha.GateQuota) {
			held = append(held, index)
		}
		needsTurn := versions.NeedsTurn(deployment, instance)
		if needsTurn {
			overridden = append(overridden, index)
		}
		if versions.Reported(instance.TemplateHash()) != versions.Sent && !needsTurn {
			continue
		}
		current = append(current, index)
		switch data := meta.FindStatusCondition(owned.Conditions(instance), v1alpha.ConditionReferencedDataReady); {
		case data == nil:
		case data.Status == metav1.ConditionTrue:
			dataReady = append(dataReady, index)
			if data.Reason == v1alpha.ReasonReferencedDataDiffers {
				result.DataDiffers = cmp.Or(result.DataDiffers, data.Message)
			}
		case result.DataMissing == "":
			result.DataMissing = data.Message
		}
	}
	result.Existing, result.Ready, result.Held = naming.Format(existing), naming.Format(ready), naming.Format(held)
	result.AvailableIndices = naming.Format(available)
	result.Current, result.DataReady = naming.Format(current), naming.Format(dataReady)
	if len(overridden) > 0 {
		result.Overridden, result.OverriddenHash = naming.Format(overridden), versions.Given()
	}
	return result
}
