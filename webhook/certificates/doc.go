// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates gives the webhook's replicas their serving certificates: from a CA of their own that they keep
// in one Secret on the hub and rotate without losing a request, or from files that an operator provides.
//
// A rotation goes through the Secret in single steps, each an optimistic update that any replica may do:
//
//  1. The next CA is made beside the current one, and is in the Bundle from then on.
//  2. When every webhook configuration carries it, that moment is stamped.
//  3. TrustDelay later, when the API servers have seen their configurations change, it becomes the current CA; every
//     replica signs its leaf anew. The former CA stays in the Bundle as the previous one.
//  4. When no leaf of the previous CA can be valid any more, it is dropped.
//
// Leaves live in memory only; the Secret holds nothing but CAs. The replicas' clocks must agree to well within
// TrustDelay.
package certificates
