// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package instancetypes reads the InstanceTypes of the hub, for admission and for the controllers, and offers copies of
// them in every project.
package instancetypes
