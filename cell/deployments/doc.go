// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deployments reads WorkloadDeployments, their Instances and the metadata of the ConfigMaps and Secrets that
// their templates need in the cell, and creates, replaces and deletes Instances.
package deployments
