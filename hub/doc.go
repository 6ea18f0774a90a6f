// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hub holds the controllers that run beside the karmada-apiserver: deployments (in a project),
// federation (project to hub), references (project to hub: what deployments name) and projection (hub to project). What
// they need of Milo they say in the interfaces of this package.
package hub
