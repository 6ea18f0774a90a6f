// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runtime reads Instances and Pods in the cell, keeps a Pod for every sandbox Instance that no gate holds,
// and writes the Instances' conditions Ready, Available and Programmed, their addresses and the template that runs.
package runtime
