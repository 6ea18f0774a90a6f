// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package abandoned withdraws from the hub what a project left there that does not exist any more: Milo deletes a project
// without waiting for finalizers in namespace default, so nobody may have seen its end. It reads hub namespaces and, live and
// more than once, the Project at Milo's root, and deletes copies and hub namespaces.
package abandoned
