// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package remedies has, for each condition reason, its specificity, its usual duration, the person who must act, and the action.
package remedies
