// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package probe asks the addresses in the DNS names of Workloads whether they answer, and writes nothing.
package probe
