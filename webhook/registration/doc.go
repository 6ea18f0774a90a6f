// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registration writes the add-on's webhook configurations where they are called from, and keeps them: with the
// address and the CAs that callers are to trust.
package registration
