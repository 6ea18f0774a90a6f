// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reasons has, for each condition reason, its specificity, its usual duration, the person who must act, and the
// action. It also shortens, counts and cleans the texts of messages.
package reasons
