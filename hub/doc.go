// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hub sets up the controllers that run beside the karmada-apiserver. The interfaces in hub/projects hide Milo
// from them.
//
// From project to hub:
//   - deployments, in the project: one WorkloadDeployment per placement and city of a Workload
//   - propagation: copies of the WorkloadDeployments on the hub, with the PropagationPolicies of their cities
//   - references: the ConfigMaps and Secrets that deployments name
//   - names: a DNSEndpoint on the hub for each DNS name of a Workload, and the names in the Workload's status
//   - quota: ResourceClaims in the project, and the quota that Milo granted, in the copies
//   - instancetypes, from the hub to projects: copies of the InstanceTypes
//
// From hub to project:
//   - projection: Instances, and the status of WorkloadDeployments
//
// On the hub:
//   - collector-deployments: checks the path of every deployment through Karmada to its cells and back, and repairs it
//   - collector-demand: gives Instances for which Karmada finds no capacity to cells whose nodes come on demand
//   - collector-inventory: compares the deployments in each cell with the deployments sent to it
//   - collector-namespaces: deletes the leftover objects of projects that no longer exist
//   - cells-agents: reports whether the agent of every cell is ready and current
//   - cells-cities: confirms the cities of cells, or reports how an operator confirms them
//   - cells-cordons: reports whether all nodes of a cell are cordoned
//   - cells-gone: deletes the Works of cells that are lost permanently
package hub
