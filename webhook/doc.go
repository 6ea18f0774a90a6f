// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhook is admission: it decides whether a Workload may be written in its project. It does so on every
// replica, without waiting for a leader or a cache.
package webhook
