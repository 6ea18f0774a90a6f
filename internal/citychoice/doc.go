// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package citychoice chooses the cities of a placement among the locations of a project.
package citychoice
