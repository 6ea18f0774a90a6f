// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package remedies says for each condition reason how specific it is, how long it usually lasts, who must act and what to do.
package remedies
