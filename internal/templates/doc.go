// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package templates reads templates of Instances: their hash, their size, which it compares with the granted quota, the
// objects and fields that they refer to, and the fields that an old cell would ignore.
package templates
