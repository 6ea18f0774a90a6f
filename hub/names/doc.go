// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names reads the Workloads of projects and the endpoints of their deployments, keeps a DNSEndpoint of
// external-dns on the hub for each DNS name of an exposed Workload, and reports the names in the status of the Workload.
package names
