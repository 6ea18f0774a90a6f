// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cities chooses the cities of a placement among the locations of a project, and bounds and compares the endpoints
// of cities.
package cities
