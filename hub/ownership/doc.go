// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ownership decides which answers of Milo prove that the owner of an object on the hub is gone. It reads Milo's
// identity, the watch of the Projects and the hub namespaces, and writes the record of Milo's identity on the hub.
// Every controller that deletes objects because Milo does not have their owner asks this package first.
package ownership
