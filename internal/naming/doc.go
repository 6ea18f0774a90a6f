// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package naming derives the names and the labels of objects from the objects that they belong to. A name must not change from one
// version to the next.
package naming
