// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package federation reads WorkloadDeployments in a project and writes to the hub: a copy of each, the hub namespace,
// the city's PropagationPolicy, and the Works that carry the namespace into the cells of the city. Its finalizer on
// the project's object is the only way by which any of these goes.
package federation
