// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package wording shortens and counts for messages.
package wording
