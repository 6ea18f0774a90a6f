// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gates reads in the cell what an Instance waits for before it starts, and says which of its scheduling gates still hold it: quota
// and networks, which its WorkloadDeployment has, and ConfigMaps and Secrets that it names. Package runtime lifts the others, and writes
// what was found, the conditions QuotaGranted and ReferencedDataReady, with the rest of the status.
package gates
