// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulated plays cells in tests that need none: it gives the Instances of a WorkloadDeployment their templates and writes
// the report on them.
package simulated
