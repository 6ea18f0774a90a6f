// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gates reads in the cell what an Instance waits for before it starts, and lifts its scheduling gates: quota and networks, which
// its WorkloadDeployment has, and ConfigMaps and Secrets that it names. What it finds are the conditions QuotaGranted and
// ReferencedDataReady, which package runtime writes with the rest of the status.
package gates
