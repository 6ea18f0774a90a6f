// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gates determines the requirements that an Instance waits for before it starts, and the scheduling gates that still hold it:
// quota and networks, which its WorkloadDeployment reports, and ConfigMaps and Secrets that it names. Package runtime lifts the other
// gates, and writes the resulting conditions QuotaGranted and ReferencedDataReady with the rest of the status.
package gates
