// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates provides the serving certificates of the webhooks: issued by a CA that the replicas keep in one
// Secret on the hub and rotate without losing a request, or read from files that an operator provides.
//
// A CA is rotated ahead of its use (package rotation): the next one is added to the Bundle and to every webhook
// configuration. When API servers have observed that, it becomes the current one, and every replica renews its leaf.
// The former one stays in the Bundle until no leaf of it can be valid.
//
// Leaves are in memory only; the Secret holds nothing but CAs.
package certificates
