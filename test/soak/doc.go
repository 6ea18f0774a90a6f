// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package soak changes Workloads as consumers on a local federation while its processes are killed one after the other,
// and then compares project, hub and cells until they agree. It contains a plan made from a seed, its execution, and
// the comparison.
package soak
