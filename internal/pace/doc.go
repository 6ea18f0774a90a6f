// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pace runs the steps of a reconcile, holds the delay after which an object is reconciled again without an
// event, and lets the write of a passing state wait a moment for the state that lasts, so that both cost one write.
package pace
