// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhook is admission: it says on every replica, without waiting for a leader or a cache, whether a Workload
// may be written in its project.
package webhook
