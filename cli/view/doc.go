// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package view is what a user sees of a Workload: Read collects it from the planes that the user reaches, a Tree shows it, and a Way
// says where it stopped.
package view
