// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package audit looks through the Instances, Pods and InstanceSlices in the cell for those whose controller is gone, and has them
// deleted or adopted. It trusts no event: whatever was missed is found within a few minutes.
package audit
