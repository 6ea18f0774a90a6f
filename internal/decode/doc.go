// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package decode decodes objects from consumers and cells, with bounds that the schema does not have.
package decode
