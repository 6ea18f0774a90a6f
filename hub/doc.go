// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hub sets up the controllers that run beside the karmada-apiserver: deployments (in a project), propagation
// (project to hub), references (project to hub: the ConfigMaps and Secrets that deployments name) and projection (hub to
// project). What they need of Milo is in the interfaces of hub/projects.
package hub
