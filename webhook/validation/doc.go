// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation finds the problems of a Workload, what in it will not work well, and what its user must be allowed to
// use. Its functions depend on nothing but their arguments, do not change them, and are safe for concurrent use.
package validation
