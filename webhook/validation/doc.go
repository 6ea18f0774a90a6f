// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation says what is wrong with a Workload, what will work badly and what its author must be allowed to
// use. Its functions look at nothing but their arguments, change nothing, and are safe for concurrent use.
package validation
