// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package collector compares project, hub and cells. It repairs the findings of path.Judge, triggers Karmada to apply
// missing deployments in cells, and deletes objects on the hub and in cells whose owner is gone. All repairs share one
// rate limit.
package collector
