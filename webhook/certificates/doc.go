// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates provides the serving certificates of the webhooks: issued by a CA that the replicas keep in one
// Secret on the hub and rotate without losing a request, or read from files that an operator provides.
//
// A rotation takes these steps. Each is one optimistic update of the Secret, by any replica:
//
//  1. The next CA is created beside the current one, and added to the Bundle.
//  2. When every webhook configuration has it, the time is stamped.
//  3. TrustDelay later, when the API servers have observed the changed configurations, it becomes the current CA, and every
//     replica renews its leaf. The former CA stays in the Bundle as the previous one.
//  4. When no leaf of the previous CA can be valid any more, it is dropped.
//
// Leaves are in memory only; the Secret holds nothing but CAs. The clocks of the replicas must differ by much less than
// TrustDelay.
package certificates
