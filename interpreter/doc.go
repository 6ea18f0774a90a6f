// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package interpreter teaches Karmada what a WorkloadDeployment is: pure functions on objects, a file per operation,
// and the HTTP handler around them.
package interpreter
