// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inventory compares which WorkloadDeployments a cell has, as its Cell reports, with those that the hub sends there. It
// writes the Work that carries the Cell to each cell, has Karmada remove what a project has not asked for any more, and has it
// write again what is missing. It trusts no event: it looks at the hub's cache every few seconds.
package inventory
