// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package audit checks the Instances, Pods and InstanceSlices in the cell for objects whose controller is gone, and deletes them or has
// them adopted. It depends on no event: missed events are detected within a few minutes.
package audit
