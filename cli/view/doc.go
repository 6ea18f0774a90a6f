// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package view shows a Workload to a user: Read collects its objects from the planes that the user reaches, a Tree shows them,
// and a Way shows the object at which the Workload stopped.
package view
