// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runtime reads Instances and Pods in the cell, keeps a Pod for every sandbox Instance without scheduling gates, and
// writes the conditions Ready, Available and Programmed of the Instances, their addresses and the template that they run.
package runtime
