// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cellreport

import (
	"encoding/json"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// DecodeSlice decodes a cell's report in a slice from the status that Karmada has collected. It returns false for any other content,
// and for a report that no agent has written yet.
func DecodeSlice(cell string, raw []byte) (v1alpha.InstanceReport, bool) {
	status := &v1alpha.InstanceSliceStatus{}
	if json.Unmarshal(raw, status) != nil || status.ObservedGeneration == 0 {
		return v1alpha.InstanceReport{}, false
	}
	status.Cell = cell
	return status.InstanceReport, true
}
