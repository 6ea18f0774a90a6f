// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package repairs writes to objects on the hub so that Karmada reconciles them again, at a bounded rate that cells share, and with
// growing pauses for each object.
package repairs
