// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registration applies the add-on's webhook configurations, with the address of the webhooks and the CAs that
// callers must trust, and keeps them up to date.
package registration
