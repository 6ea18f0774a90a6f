// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cellreport

import (
	"encoding/json"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// DecodeSlice is what a cell reports in a slice, from the status that Karmada has collected. It is false for what is no report,
// or was not written by an agent yet.
func DecodeSlice(cell string, raw []byte) (v1alpha.InstanceReport, bool) {
	status := &v1alpha.InstanceSliceStatus{}
	if json.Unmarshal(raw, status) != nil || status.ObservedGeneration == 0 {
		return v1alpha.InstanceReport{}, false
	}
	status.Cell = cell
	return status.InstanceReport, true
}
