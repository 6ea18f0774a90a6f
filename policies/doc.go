// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policies is what Karmada is told: the per-city PropagationPolicy and the registration of the interpreter.
package policies
