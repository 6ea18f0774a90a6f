// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package networks reads in a project whether the networks exist that a template names. It watches nothing and writes nothing.
package networks
