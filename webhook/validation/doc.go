// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation finds the problems of a Workload, the parts of it that will not work well, and the permissions that its user
// needs. Its functions depend only on their arguments, do not change them, and are safe for concurrent use.
package validation
