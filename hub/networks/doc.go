// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package networks checks in a project whether the networks of a template exist, and binds them to locations. It has no
// watch.
package networks
