// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package component has the code that karmada-compute and karmada-compute-cell share as components of Kubernetes: the
// groups of their flags, --version, the log, and the flags that both have.
package component
