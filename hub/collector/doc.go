// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package collector compares project, hub and cells. It repairs what path.Judge finds, sends deployments again that a cell misses, and
// deletes on the hub and in cells what belongs to an owner that is gone. All repairs share one rate limit.
package collector
