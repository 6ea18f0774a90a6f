// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package indexing is about the indices of Instances: as text, as ranges and as sets, which cell may use which, and which InstanceSlice has which.
package indexing
